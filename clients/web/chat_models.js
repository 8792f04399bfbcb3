// Who answers in the chat: an OpenAI-compatible endpoint, or an echo that needs none.

const ECHO_TOKEN_MS = 30;

/** Tokens of the answer to `messages`, as they come. `signal` aborts it. */
export function answer(settings, messages, signal) {
  return settings.provider === "openai" ? openai(settings, messages, signal) : echo(messages, signal);
}

async function* echo(messages, signal) {
  const said = messages.at(-1).content.trim();
  const text = `You said: ${said}${/[.!?。！？]$/u.test(said) ? "" : "."} I am the built-in echo; choose a model in the settings to have a conversation.`;
  for (const token of text.match(/\s*\S{1,5}/gu)) {
    await new Promise((resolve) => setTimeout(resolve, ECHO_TOKEN_MS));
    signal.throwIfAborted();
    yield token;
  }
}

async function* openai({ endpoint, model, modelKey }, messages, signal) {
  const response = await request(`${endpoint.replace(/\/+$/, "")}/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(modelKey ? { Authorization: `Bearer ${modelKey}` } : {}) },
    body: JSON.stringify({ model, messages, stream: true }),
    signal,
  });
  for await (const data of serverSentEvents(response.body)) {
    if (data === "[DONE]") return;
    const token = JSON.parse(data).choices?.[0]?.delta?.content;
    if (token) yield token;
  }
}

async function request(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(`${url} cannot be reached from this page. It must be running, and allow other pages (CORS).`);
  }
  if (!response.ok) throw new Error(`The model answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
  return response;
}

async function* serverSentEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split(/\r?\n/);
    rest = done ? "" : lines.pop();
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
    if (done) return;
  }
}

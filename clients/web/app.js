// The page: sends the text word by word and plays what comes back.

import { Client } from "./client.js";
import { Player } from "./player.js";

const RATE = 24000;
const WORD_MS = 40;
const $ = (id) => document.getElementById(id);

let player = null;
let client = null;
let turn = null; // the reply being spoken: {name, number, words, sentAt, played}
let turns = 0;

async function listVoices() {
  const headers = $("key").value ? { Authorization: `Bearer ${$("key").value}` } : {};
  const response = await fetch("/v1/voices", { headers });
  if (!response.ok) throw new Error(response.status === 401 ? "The server asks for a key." : `The server answered ${response.status}.`);
  const { voices } = await response.json();
  $("voice").replaceChildren(...voices.map(({ name, languages, default: chosen }) => new Option(`${name} (${languages.join(", ")})`, name, chosen, chosen)));
}

async function speak() {
  stop();
  player ??= await Player.create(RATE, onstate);
  if (!client?.open) client = await Client.connect($("key").value, { onmessage, onaudio, onclose });
  player.clear();
  turn = { name: `turn-${++turns}`, text: $("text").value, words: [], heard: 0, played: 0, number: null, ended: false, firstSent: null };
  client.send("open", turn.name, { voice: $("voice").value || null, codec: "pcm_f32le", speed: Number($("speed").value) });
  say("", false);
  $("stop").disabled = false;
  await feed(turn);
}

async function feed(current) {
  for (const word of current.text.match(/\s*\S+\s*$|\s*\S+/g) ?? []) {
    if (turn !== current) return;
    current.firstSent ??= performance.now();
    client.send("text", current.name, { text: word });
    await new Promise((resolve) => setTimeout(resolve, WORD_MS));
  }
  if (turn === current) client.send("end", current.name);
}

function stop() {
  if (!turn) return;
  player.clear();
  if (turn.ended) tellHeard([...turn.text].slice(0, turn.heard).join("")); // all of it was sent; we know what was played
  else if (client.open) client.send("cancel", turn.name, { played_ms: (turn.played / RATE) * 1000 });
  finish();
}

function finish() {
  turn = null;
  $("stop").disabled = true;
}

function onmessage(message) {
  if (message.type === "error") say(message.message, true);
  if (message.type === "ended" && message.reason === "cancelled") tellHeard(message.spoken);
  if (!turn || message.context !== turn.name) return;
  if (message.type === "opened") turn.number = message.number;
  if (message.type === "timing") turn.words.push(...message.words);
  if (message.type === "ended") {
    turn.ended = true;
    player.end();
  }
}

function tellHeard(text) {
  say(`You heard: ${text || "nothing"}`, false);
}

function onaudio({ number, sequence, payload }) {
  if (!turn || number !== turn.number) return;
  if (sequence === 0) $("ttfa").textContent = `${Math.round(performance.now() - turn.firstSent)} ms after the first word`;
  player.push(new Float32Array(payload));
}

function onstate({ buffered, played, underruns, done }) {
  if (!turn) return;
  turn.played = played;
  $("buffered").textContent = `${(buffered / RATE).toFixed(1)} s`;
  $("underruns").textContent = underruns;
  highlight(played);
  if (done) finish();
}

function highlight(played) {
  const heard = turn.words.findLast((word) => word.first_sample <= played)?.end ?? 0;
  if (heard === turn.heard) return;
  turn.heard = heard;
  const characters = [...turn.text]; // offsets count code points, JavaScript's strings count UTF-16 units
  const rest = Object.assign(document.createElement("span"), { className: "rest", textContent: characters.slice(heard).join("") });
  $("spoken").replaceChildren(characters.slice(0, heard).join(""), rest);
}

function onclose({ code, reason }) {
  say(`The connection ended (${code}${reason ? `: ${reason}` : ""}). Speak connects again.`, true);
  if (turn) finish();
}

function say(text, isError) {
  $("status").textContent = text;
  $("status").classList.toggle("error", isError);
}

function attempt(action) {
  return (event) => {
    event?.preventDefault();
    action().catch((error) => say(error.message, true));
  };
}

$("form").addEventListener("submit", attempt(speak));
$("stop").addEventListener("click", stop);
$("key").addEventListener("change", attempt(listVoices));
attempt(listVoices)();

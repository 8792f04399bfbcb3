// The page: puts its parts together.

import { ChatPanel } from "./chat_panel.js";
import { Client } from "./client.js";
import { missing, Player } from "./player.js";
import { Settings, startBounds } from "./settings.js";
import { Speaker } from "./speaker.js";
import { Stage } from "./stage.js";
import { bindTabs } from "./tabs.js";
import { bindTheme } from "./theme.js";
import { WritePanel } from "./write_panel.js";

const $ = (id) => document.getElementById(id);
const STATES = { idle: "Not connected", connecting: "Connecting", open: "Connected", waiting: "Reconnecting", locked: "Key needed" };

const settings = new Settings();
const player = new Player({ decoder: settings.values.decoder, startMs: startBounds(settings.values.buffer) });
const client = new Client({ url: streamUrl(), key: settings.values.key });
const speaker = new Speaker(client, player, settings);

const names = ["wave", "transcript", "status", "save", "stop", "ttfa", "ttfa-note", "buffered", "level", "underruns", "underruns-note", "rtf", "rtf-note"];
const stage = new Stage(player, Object.fromEntries(names.map((name) => [name, $(name)])), () => chat.interrupt());
const chat = new ChatPanel({ form: $("chat"), input: $("say"), messages: $("messages") }, settings, speaker);
new WritePanel(
  { form: $("panel-write"), text: $("text"), modes: document.querySelectorAll("[name=mode]"), pace: $("pace"), paceBox: $("pace-box"), paceValue: $("pace-value") },
  settings,
  speaker,
);

speaker.addEventListener("reply", ({ detail }) => stage.show(detail));
speaker.addEventListener("failure", ({ detail }) => stage.tell(detail, { error: true }));
client.addEventListener("statechange", () => showConnection(client.state));
settings.addEventListener("change", ({ detail }) => settingsChanged(detail));
document.addEventListener("keydown", (event) => event.key === "Escape" && !$("settings").open && chat.interrupt());
// The first gesture makes sound possible, so that the first reply need not wait for it.
for (const gesture of ["pointerdown", "keydown"]) document.addEventListener(gesture, () => player.unlock().catch(() => {}), { passive: true });
addEventListener("online", () => client.connect().catch(() => {}));

bindTabs(document.querySelector("[role=tablist]"));
bindTheme($("theme"), settings, () => stage.recolor());
bindSettings();
showModel();
if (/Mac|iPhone|iPad/.test(navigator.platform)) $("speak-key").textContent = "⌘ ↵";
start();

async function start() {
  const lack = missing();
  $("lack").textContent = lack ?? "";
  $("lack").hidden = lack === null;
  if (lack) return;
  await speaker.attempt(enter);
}

// Voices first: an HTTP answer says why, a refused WebSocket does not.
async function enter() {
  const { key } = settings.values;
  const response = await fetch(new URL("v1/voices", document.baseURI), { headers: key ? { Authorization: `Bearer ${key}` } : {} });
  if (response.status === 401) {
    showConnection("locked");
    throw new Error(key ? "The server does not know this key. Change it in the settings." : "This server asks for a key. Enter it in the settings.");
  }
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  listVoices((await response.json()).voices);
  await client.connect();
}

function listVoices(voices) {
  const wanted = settings.values.voice;
  const chosen = voices.find((voice) => voice.name === wanted) ?? voices.find((voice) => voice.default);
  $("voice").replaceChildren(...voices.map(({ name, languages }) => new Option(`${name} · ${languages.join(", ")}`, name, false, name === chosen?.name)));
}

function showConnection(state) {
  $("connection").dataset.state = state;
  $("connection").textContent = STATES[state];
}

function bindSettings() {
  const dialog = $("settings");
  const open = () => dialog.showModal();
  $("settings-open").addEventListener("click", open);
  $("model-open").addEventListener("click", open);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  settings.bind($("speed"), ...dialog.querySelectorAll("[name]"));
  $("voice").addEventListener("change", () => settings.set({ voice: $("voice").value }));
}

function settingsChanged(names) {
  const { key, decoder, buffer } = settings.values;
  if (names.includes("decoder")) player.decoder = decoder;
  if (names.includes("buffer")) player.startBounds = startBounds(buffer);
  if (names.includes("key")) {
    client.close();
    client.key = key;
    stage.tell("");
    speaker.attempt(enter);
  }
  showModel();
}

function showModel() {
  const { provider, model, endpoint } = settings.values;
  $("model-note").textContent = provider === "echo" ? "The built-in echo answers." : `${model} at ${endpoint} answers.`;
  for (const element of document.querySelectorAll(".endpoint")) element.hidden = provider === "echo";
}

function streamUrl() {
  const url = new URL("v1/stream", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

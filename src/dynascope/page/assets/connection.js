// The connection to the server: requests with the token, events of runs, and a line if it is gone.

const listeners = new Set();
let stream = null;
let lost = false;

function token() {
  return document.querySelector('meta[name="token"]').content;
}

// What the server answers to a request that changes or computes; throws its line otherwise.
export async function post(path, body = {}, signal = null) {
  return answer(await reach(path, { method: "POST", signal, body: JSON.stringify(body),
    headers: { "x-token": token(), "content-type": "application/json", accept: "application/json" } }));
}

export async function get(path) {
  return answer(await reach(path, { headers: { accept: "application/json" } }));
}

async function reach(path, options) {
  try { return await fetch(path, options); } catch (error) {
    throw error.name === "AbortError" ? error : new Error("The server does not answer.");
  }
}

async function answer(response) {
  if (response.ok) return response.json();
  const text = await response.text();
  let line = text;
  try { line = JSON.parse(text).error; } catch { /* it is a plain line */ }
  throw Object.assign(new Error(line || `The server answers ${response.status}.`),
    { status: response.status });
}

// Called with every change of every run, and with those under way when a page opens.
export function onJob(listener) { listeners.add(listener); }

function banner(words) {
  let place = document.getElementById("banner");
  if (!place) {
    place = Object.assign(document.createElement("p"), { id: "banner" });
    place.setAttribute("role", "alert");
    document.body.prepend(place);
  }
  place.textContent = words;
  place.hidden = !words;
}

// A server that was started again has another token: its pages tell it.
async function renew() {
  const page = await (await fetch(location.href, { headers: { accept: "text/html" } })).text();
  const fresh = new DOMParser().parseFromString(page, "text/html").querySelector('meta[name="token"]');
  if (fresh) document.querySelector('meta[name="token"]').content = fresh.content;
}

function open() {
  if (stream) return;
  stream = new EventSource("/events");
  stream.onmessage = (event) => {
    const job = JSON.parse(event.data);
    show(job);
    for (const listener of listeners) listener(job);
  };
  stream.onopen = async () => {
    if (!lost) return;
    lost = false;
    await renew().catch(() => {});
    banner("");
    document.dispatchEvent(new Event("reconnected"));
  };
  stream.onerror = () => {
    lost = true;
    banner("The server does not answer. Start it again with: dynascope page");
    if (stream && stream.readyState === EventSource.CLOSED) { close(); setTimeout(open, 2000); }
  };
}

function close() {
  if (stream) stream.close();
  stream = null;
}

// A browser allows six connections to one server: pages out of sight give theirs back.
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
window.addEventListener("pagehide", close);

// Runs under way, in the head of every page.
const running = new Map();
function show(job) {
  if (["finished", "cancelled", "failed"].includes(job.state)) running.delete(job.id);
  else running.set(job.id, job);
  let place = document.getElementById("running");
  if (!place) {
    place = Object.assign(document.createElement("span"), { id: "running" });
    document.querySelector("header.top").append(place);
  }
  place.replaceChildren(...[...running.values()].map((one) => {
    const link = Object.assign(document.createElement("a"), { href: `/studies/${one.study}` });
    link.textContent = one.state === "waiting" ? `${one.study} waits`
      : `${one.study} ${Math.round(100 * one.share)} %`;
    return link;
  }));
}

open();

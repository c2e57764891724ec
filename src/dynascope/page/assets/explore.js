// An explorer: sliders, a box that is dragged, a point that is clicked; the address holds them all.
import { post } from "./connection.js";
import { draw, phone } from "./draw.js";

const about = JSON.parse(document.getElementById("about").textContent);
const chart = document.getElementById("chart");
const numbers = document.getElementById("numbers");
const client = crypto.getRandomValues(new Uint32Array(2)).join("-");
const form = document.getElementById("moves");
const caption = document.getElementById("caption");
const cut = document.getElementById("cut");
const LONGEST = 2000; // letters of a value in an address
const GRACE = 300; // milliseconds that a picture may take before what is moved meanwhile overtakes it
let values = { ...about.values };
let underWay = 0; // number of the newest request that has no picture yet
let left = new AbortController(); // of that request, whose answer nobody wants when it is overtaken
let begun = 0;
let count = 0;
let later = null;
let strange = []; // what the address holds and nothing here understands

// --- between a slider's thousand places and its value -----------------------------------------

function toValue(slider) {
  const { low, high, scale, whole } = slider.dataset;
  const share = Number(slider.value) / 1000;
  const value = scale === "log" ? Number(low) * (high / low) ** share
    : Number(low) + (high - low) * share;
  return whole ? Math.round(value) : Number(value.toPrecision(4));
}

function toPlace(slider, value) {
  const { low, high, scale } = slider.dataset;
  const share = scale === "log" ? Math.log(value / low) / Math.log(high / low)
    : (value - low) / (high - low);
  return Math.round(1000 * Math.min(1, Math.max(0, share)));
}

function slider(name) { return form.querySelector(`input[type="range"][data-name="${name}"]`); }

function within(name, value) {
  const { low, high, whole } = slider(name).dataset;
  const kept = Math.min(Number(high), Math.max(Number(low), value));
  return whole ? Math.round(kept) : Number(kept.toPrecision(4));
}

// The value of a slider as a number, for eyes and for ears.
function tell(range, value) {
  range.setAttribute("aria-valuetext", value);
  form.querySelector(`[data-number="${range.dataset.name}"]`).value = value;
}

// What is being written in a text field stays, but for a step back or forward.
function fill(everything = false) {
  for (const field of form.querySelectorAll("[data-name]")) {
    const value = values[field.dataset.name];
    if (field.type === "range") {
      field.value = toPlace(field, value);
      tell(field, value);
    } else if (field.tagName === "SELECT") field.value = JSON.stringify(value);
    else if (everything || document.activeElement !== field) field.value = value;
  }
}

// --- the address ------------------------------------------------------------------------------

function changed() {
  return Object.entries(values).filter(([name, value]) =>
    JSON.stringify(value) !== JSON.stringify(about.values[name]));
}

function address() {
  const query = new URLSearchParams();
  for (const [name, value] of changed()) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text.length <= LONGEST) query.set(name, text);
  }
  const text = query.toString();
  return text ? `${location.pathname}?${text}` : location.pathname;
}

function read() {
  values = { ...about.values };
  strange = [];
  for (const [name, text] of new URLSearchParams(location.search)) {
    if (typeof values[name] === "string") values[name] = text;
    else try {
      if (!(name in values)) throw new Error(name);
      values[name] = JSON.parse(text);
    } catch { strange.push(`${name}=${text}`.slice(0, 80)); }
  }
}

function keep() {
  if (address() !== location.pathname + location.search) history.pushState(null, "", address());
}

window.addEventListener("popstate", () => { read(); fill(true); ask(); });

// --- asking -----------------------------------------------------------------------------------

// While a picture comes, what is moved waits for it; a picture that is slow is overtaken.
function ask() {
  if (!underWay) send();
  else if (later === null) later = setTimeout(send, Math.max(0, begun + GRACE - performance.now()));
}

async function send() {
  clearTimeout(later);
  later = null;
  const mine = underWay = ++count;
  left.abort();
  left = new AbortController();
  begun = performance.now();
  chart.classList.add("old");
  try {
    const asked = Object.fromEntries(changed());
    const found = await post(`/explore/${about.name}`,
      { values: asked, client, narrow: phone.matches }, left.signal);
    if (mine !== underWay) return;
    await draw(chart, found);
    listen();
    showEnds();
    say(found.numbers.join(" "));
    caption.textContent = found.caption === found.numbers.join(" ") ? "" : found.caption;
    const unread = strange.length ? `Nothing here is set by this part of the address: ${strange.join(", ")}.` : "";
    cut.textContent = `${unread} ${found.cut}`.trim();
    cut.hidden = !cut.textContent;
    const long = changed().some(([, value]) => String(value).length > LONGEST);
    document.getElementById("work").textContent = found.work
      + (long ? ` The address does not hold a text of more than ${LONGEST} letters.` : "");
    document.documentElement.dataset.moved = String(1 + Number(document.documentElement.dataset.moved || 0));
    document.documentElement.dataset.took = String(performance.now() - begun);
  } catch (error) {
    if (mine === underWay) say(error.message, true);
  }
  if (mine !== underWay) return;
  underWay = 0;
  chart.classList.remove("old");
  python();
  if (later !== null) send();
}

function say(words, wrong = false) {
  numbers.textContent = words;
  numbers.classList.toggle("wrong", wrong);
}

function python() {
  const given = changed().map(([name, value]) => {
    const text = typeof value === "string" && value.length > 60 ? "..." : JSON.stringify(value);
    return `, ${name}=${text}`;
  });
  document.getElementById("python").textContent = `ds.explore("${about.name}"${given.join("")})`;
}

// --- moving -----------------------------------------------------------------------------------

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", ({ target }) => {
  if (target.type === "range") {
    values[target.dataset.name] = toValue(target);
    tell(target, toValue(target));
    ask();
  }
});
form.addEventListener("change", async ({ target }) => {
  const { name, number, file } = target.dataset;
  if (number && target.value !== "") values[number] = Number(target.value);
  else if (target.tagName === "SELECT") values[name] = JSON.parse(target.value);
  else if (target.type === "text" || target.tagName === "TEXTAREA") values[name] = target.value;
  else if (file && target.files.length) await take(file, target.files[0]);
  if (name in values || number || file) {
    for (const drag of about.drags) if (target.type === "text") values[drag.x] = values[drag.y] = [];
    fill();
    keep();
    if (target.type !== "range") ask();
  }
});
document.getElementById("first").addEventListener("click", () => {
  values = { ...about.values };
  fill();
  keep();
  ask();
});

async function take(name, file) {
  if (file.size > 20 * 2 ** 20) {
    say("At most 20 MB can be read.", true);
    return;
  }
  values[name] = await file.text();
  form.querySelector(`textarea[data-name="${name}"]`).value = values[name].slice(0, 100000);
}

for (const area of form.querySelectorAll("[data-drop]")) {
  area.addEventListener("dragover", (event) => event.preventDefault());
  area.addEventListener("drop", async (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    await take(area.dataset.name, event.dataTransfer.files[0]);
    keep();
    ask();
  });
}

// --- in the chart -----------------------------------------------------------------------------

function axis(letter, panel) { return `${letter}axis${panel ? panel + 1 : ""}`; }

let heard = false;
function listen() {
  if (heard) return;
  heard = true;
  for (const drag of about.drags) {
    chart.on("plotly_relayout", (change) => {
      const [x, y] = [axis("x", drag.panel), axis("y", drag.panel)];
      if (`${x}.range[0]` in change && `${y}.range[0]` in change) {
        box(drag, ...[x, y].map((a) => [0, 1].map((i) => change[`${a}.range[${i}]`])));
      } else if (`${x}.range` in change || change[`${x}.autorange`]) box(drag, [], []); // a double-click
    });
  }
}

// The ends that are drawn, and a box with other ones: dragged, written, or moved by a button.
function drawn(drag) {
  return ["x", "y"].map((letter) => chart._fullLayout[axis(letter, drag.panel)].range.map(Number));
}

function box(drag, x, y) {
  if (x.length && drag.above !== null && x[0] <= drag.above) {
    x = [(drag.above + drawn(drag)[0][0]) / 2, x[1]];
  }
  [values[drag.x], values[drag.y]] = [x, y].map((ends) => ends.map((v) => Number(v.toPrecision(8))));
  keep();
  ask();
}

function showEnds() {
  for (const drag of about.drags) {
    const shown = Object.fromEntries([drag.x, drag.y].map((name, i) => [name, drawn(drag)[i]]));
    for (const field of form.querySelectorAll("[data-end]")) {
      if (field !== document.activeElement) {
        field.value = Number(shown[field.dataset.end][field.dataset.place].toPrecision(6));
      }
    }
  }
}

for (const drag of about.drags) {
  form.addEventListener("change", ({ target }) => {
    const { end, place } = target.dataset;
    if (!end || target.value === "" || !chart._fullLayout) return;
    const ends = drawn(drag);
    ends[end === drag.x ? 0 : 1][place] = Number(target.value);
    box(drag, ...ends);
  });
  form.addEventListener("click", ({ target }) => {
    const { zoom, pan, whole } = target.dataset;
    if (!chart._fullLayout) return;
    if (whole !== undefined) box(drag, [], []);
    const by = pan ? pan.split(" ").map(Number) : [0, 0];
    if (zoom || pan) {
      box(drag, ...drawn(drag).map(([low, high], i) => {
        const [middle, half] = [(low + high) / 2 + by[i] * (high - low) / 4, (zoom || 1) * (high - low) / 2];
        return [middle - half, middle + half];
      }));
    }
  });
}

let pressed = null;
chart.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; }, true);
window.addEventListener("pointerup", (event) => {
  if (!pressed || !chart._fullLayout) return;
  const still = Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 4;
  pressed = null;
  if (still) for (const click of about.clicks) at(click, event);
}, true);

function at(click, event) {
  const box = chart.getBoundingClientRect();
  const [x, y] = [chart._fullLayout[axis("x", click.panel)], chart._fullLayout[axis("y", click.panel)]];
  const [across, down] = [event.clientX - box.left - x._offset, event.clientY - box.top - y._offset];
  if (across < 0 || down < 0 || across > x._length || down > y._length) return;
  values[click.x] = within(click.x, x.p2d(across));
  values[click.y] = within(click.y, y.p2d(down));
  fill();
  keep();
  ask();
}

document.addEventListener("reconnected", () => ask());
phone.addEventListener("change", () => ask());
read();
fill();
ask();

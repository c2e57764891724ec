// Running a study from its page: changed settings, live progress, charts that grow.
import { get, onJob, post } from "./connection.js";
import { draw, phone } from "./draw.js";

const form = document.getElementById("run");
const study = form.dataset.study;
const says = document.getElementById("run-says");
const bar = document.getElementById("run-bar");
const cancel = document.getElementById("cancel");
const growing = document.getElementById("growing");
const submit = form.querySelector('button[type="submit"]');
const OFTEN = 2500; // milliseconds between two looks at the growing run
let current = null;
let looked = 0;

function changes() {
  const fields = [...form.querySelectorAll(".settings input")];
  return Object.fromEntries(fields.filter((f) => f.value !== f.dataset.first).map((f) => [f.name, f.value]));
}

function say(words, wrong = false) {
  says.textContent = words;
  says.classList.toggle("wrong", wrong);
}

// A field that is wrong is shown, marked and said.
function refuse(field, words) {
  say(words, true);
  if (!field) return;
  field.closest("details").open = true;
  field.setAttribute("aria-invalid", "true");
  field.focus();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = [...form.querySelectorAll(".settings input")];
  for (const field of fields) field.removeAttribute("aria-invalid");
  const beyond = fields.find((field) => !field.checkValidity());
  if (beyond) { refuse(beyond, `${beyond.name}: ${beyond.validationMessage}`); return; }
  try {
    current = (await post(`/run/${study}`, { scale: form.elements.scale.value, changes: changes() })).id;
    say("It is in the queue.");
  } catch (error) {
    refuse(fields.find((field) => field.name === error.message.split(":")[0]), error.message);
  }
});

cancel.addEventListener("click", () => current !== null &&
  post(`/cancel/${current}`).catch((error) => say(error.message, true)));

form.elements.scale.addEventListener("change", async () => {
  const answer = await fetch(`/form/${study}?scale=${form.elements.scale.value}`);
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  form.querySelector(".settings").replaceChildren(...fresh.querySelector(".settings").children);
});

onJob((job) => {
  if (job.study !== study || (current !== null && job.id !== current)) return;
  const under = ["waiting", "running", "cancelling"].includes(job.state);
  if (under) current = job.id;
  cancel.hidden = !under;
  bar.hidden = !under;
  submit.disabled = under;
  if (under) {
    bar.querySelector("progress").value = job.share;
    bar.querySelector("span").textContent = [job.label, job.note].filter(Boolean).join(", ");
    say(job.state === "waiting" ? "It waits: two runs are under way." : job.line || "It begins.");
    look(job.began);
  } else if (job.state === "finished") {
    const words = Object.entries(job.tally).map(([verdict, n]) => `${n} ${verdict.replace("_", " ")}`);
    say(`Finished: ${words.join(", ")}.`);
    location.assign(`/studies/${study}?record=${job.record}`);
  } else {
    current = null;
    say(job.state === "cancelled"
      ? "Cancelled. What was recorded stays: running it again goes on from there."
      : job.line || "It failed.", job.state === "failed");
  }
});

async function look(since) {
  if (Date.now() - looked < OFTEN) return;
  looked = Date.now();
  const width = Math.round(growing.clientWidth) || 600;
  const query = new URLSearchParams({ since, width, narrow: phone.matches ? 1 : 0 });
  const charts = await get(`/growing/${study}?${query}`).catch(() => []);
  charts.forEach((chart, i) => {
    if (!growing.children[i]) {
      const figure = document.createElement("figure");
      figure.append(document.createElement("h3"), document.createElement("div"));
      growing.append(figure);
    }
    growing.children[i].firstChild.textContent = chart.label;
    draw(growing.children[i].lastChild, chart).catch(() => {});
  });
}

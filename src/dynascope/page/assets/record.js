// A record: every quantity as a chart, one slider of the step for all of them.
import { get } from "./connection.js";
import { draw, mark, phone } from "./draw.js";

const place = document.getElementById("about");
if (place) {
  const about = JSON.parse(place.textContent);
  const slider = document.getElementById("step");
  const output = document.querySelector('output[for="step"]');
  const seen = new Set();
  const busy = new Set();
  const late = new Set();

  const number = () => about.steps[Number(slider.value)];
  const div = (i) => document.getElementById(`variable-${i}`);

  // Addresses name the version of the record: what has not changed comes from the browser's cache.
  async function load(i) {
    if (busy.has(i)) { late.add(i); return; }
    busy.add(i);
    const variable = about.variables[i];
    const width = Math.max(200, Math.round(div(i).clientWidth / 100) * 100);
    const step = variable.kind === "curve" ? 0 : Number(slider.value) * about.stride;
    const query = new URLSearchParams({ variable: variable.name, step, width,
      narrow: phone.matches ? 1 : 0, version: about.version });
    const caption = div(i).closest("figure").querySelector("figcaption");
    try {
      const chart = await get(`/records/${about.record}/chart?${query}`);
      await draw(div(i), chart, variable.kind === "curve" ? number() : null);
      caption.textContent = chart.caption;
    } catch (error) { caption.textContent = error.message; }
    busy.delete(i);
    if (late.delete(i)) load(i);
  }

  function tell() {
    output.textContent = number();
    slider.setAttribute("aria-valuetext", number());
  }

  slider.addEventListener("input", () => {
    tell();
    for (const i of seen) about.variables[i].kind === "curve" ? mark(div(i), number()) : load(i);
  });
  slider.addEventListener("change", () => {
    const query = new URLSearchParams(location.search);
    query.set("step", number());
    history.replaceState(null, "", `?${query}`);
  });

  const asked = Number(new URLSearchParams(location.search).get("step") || about.steps.at(-1));
  slider.value = about.steps.reduce((best, step, i) =>
    Math.abs(step - asked) < Math.abs(about.steps[best] - asked) ? i : best, 0);
  tell();

  // Charts are drawn when they come into sight.
  const sight = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const i = Number(entry.target.id.split("-")[1]);
      if (entry.isIntersecting && !seen.has(i)) { seen.add(i); load(i); }
    }
  }, { rootMargin: "400px" });
  about.variables.forEach((_, i) => sight.observe(div(i)));
  phone.addEventListener("change", () => seen.forEach(load));
}

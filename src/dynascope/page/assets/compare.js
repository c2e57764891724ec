// Two records: the charts they have in common, drawn when they come into sight.
import { draw, phone } from "./draw.js";

const charts = JSON.parse(document.getElementById("both").textContent);
const seen = new Set();
const place = (i) => document.getElementById(`both-${i}`);
const show = (i) => draw(place(i), phone.matches ? narrowed(charts[i]) : charts[i]);

// On a telephone panels stand below each other.
function narrowed(chart) {
  const data = chart.figure.data.map((trace, i) => ({ ...trace, ...chart.narrow.traces[i] }));
  return { ...chart, figure: { data, layout: chart.narrow.layout } };
}

const sight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    const i = Number(target.id.split("-")[1]);
    if (isIntersecting && !seen.has(i)) { seen.add(i); show(i); }
  }
}, { rootMargin: "400px" });
charts.forEach((_, i) => sight.observe(place(i)));
phone.addEventListener("change", () => seen.forEach(show));

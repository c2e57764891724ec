// Draws charts that come as JSON, in the colours of the hour, and again when these change.
/* global Plotly */

const night = window.matchMedia("(prefers-color-scheme: dark)");
export const phone = window.matchMedia("(max-width: 44rem)");
const drawn = new Map();

// The figure in the colours of the hour; long columns of numbers are shared, not copied.
function colours(node, twins, key = "") {
  if (typeof node === "string") return (night.matches && key.endsWith("color") && twins[node]) || node;
  if (node === null || typeof node !== "object" || ["x", "y", "z"].includes(key)) return node;
  if (Array.isArray(node)) return key === "colorscale" ? node : node.map((v) => colours(v, twins, key));
  return Object.fromEntries(Object.entries(node).map(([k, v]) => [k, colours(v, twins, k)]));
}

// plotly.js is there already, but for charts in space, which need more of it.
async function library(name) {
  if (window.Plotly && name !== "plotly-full.js") return;
  if (document.querySelector(`script[src$="${name}"]`)) return;
  await new Promise((done, failed) => {
    const script = Object.assign(document.createElement("script"), { src: `/assets/${name}` });
    script.onload = done;
    script.onerror = () => failed(new Error("The drawing library could not be loaded."));
    document.head.append(script);
  });
}

export async function draw(place, chart, cursor = null) {
  await library(chart.library);
  drawn.set(place, { chart, cursor });
  const figure = colours(chart.figure, chart.dark);
  place.style.minHeight = `${figure.layout.height}px`;
  if (cursor !== null) figure.layout.shapes = [...(figure.layout.shapes || []), line(cursor)];
  const picture = { format: "png", scale: 2, filename: chart.name };
  await Plotly.react(place, figure.data, figure.layout,
    { ...chart.config, toImageButtonOptions: picture });
}

function line(x) {
  return { type: "line", xref: "x", yref: "y domain", x0: x, x1: x, y0: 0, y1: 1,
    line: { color: "#888888", width: 1.5 } };
}

// Moves the line that marks a step, without drawing anything else anew.
export function mark(place, x) {
  const known = drawn.get(place);
  if (!known) return;
  known.cursor = x;
  const shapes = colours(known.chart.figure.layout.shapes || [], known.chart.dark);
  Plotly.relayout(place, { shapes: [...shapes, line(x)] });
}

night.addEventListener("change", () => {
  for (const [place, { chart, cursor }] of drawn) draw(place, chart, cursor);
});

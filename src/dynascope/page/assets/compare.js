// Two records: the charts they have in common.
import { draw } from "./draw.js";

const charts = JSON.parse(document.getElementById("both").textContent);
charts.forEach((chart, i) => draw(document.getElementById(`both-${i}`), chart));

// Draws every chart of the report, in colours that fit the page, and again when these change.
"use strict";
(function () {
  const night = window.matchMedia("(prefers-color-scheme: dark)");

  // The figure in its light colours, or with each of them exchanged for its dark twin.
  function colours(chart, dark) {
    return JSON.parse(JSON.stringify(chart.figure), function (key, value) {
      const paint = dark && typeof value === "string" && key.endsWith("color");
      return paint && chart.dark[value] ? chart.dark[value] : value;
    });
  }

  // A width in pixels for paper; on the screen a figure follows its page.
  function draw(dark, width) {
    for (const data of document.querySelectorAll("script[data-chart]")) {
      const chart = JSON.parse(data.textContent);
      const place = document.getElementById(data.dataset.chart);
      const figure = colours(chart, dark);
      if (width) figure.layout.width = width;
      const picture = { format: "png", scale: 2, filename: place.dataset.name };
      const options = Object.assign({ toImageButtonOptions: picture }, chart.config);
      Plotly.react(place, figure.data, figure.layout, options);
    }
  }

  draw(night.matches);
  night.addEventListener("change", () => draw(night.matches));
  window.addEventListener("beforeprint", () => draw(false, 690));
  window.addEventListener("afterprint", () => draw(night.matches));
})();

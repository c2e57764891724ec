// Draws every chart of the report, in colours that fit the page, and again when these change.
"use strict";
(function () {
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const phone = window.matchMedia("(max-width: 44rem)");

  // plotly.js is in a report as base64 of gzip; as a script of its own it defines Plotly.
  async function unpack() {
    if (!document.getElementById("plotly")) return;  // a page of a site has loaded it
    const packed = atob(document.getElementById("plotly").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  // The figure as it is on a telephone: panels below each other.
  function narrowed(chart) {
    const data = chart.figure.data.map((t, i) => Object.assign({}, t, chart.narrow.traces[i]));
    return { data: data, layout: chart.narrow.layout };
  }

  // The figure in its light colours, or with each of them exchanged for its dark twin.
  function colours(figure, dark, twins) {
    return JSON.parse(JSON.stringify(figure), function (key, value) {
      const paint = dark && typeof value === "string" && key.endsWith("color");
      return paint && twins[value] ? twins[value] : value;
    });
  }

  // A width in pixels for paper; on the screen a figure follows its page.
  function draw(dark, width) {
    for (const data of document.querySelectorAll("script[data-chart]")) {
      const chart = JSON.parse(data.textContent);
      const place = document.getElementById(data.dataset.chart);
      const form = phone.matches && !width ? narrowed(chart) : chart.figure;
      const figure = colours(form, dark, chart.dark);
      if (width) figure.layout.width = width;
      const picture = { format: "png", scale: 2, filename: place.dataset.name };
      const options = Object.assign({ toImageButtonOptions: picture }, chart.config);
      Plotly.react(place, figure.data, figure.layout, options);
    }
    document.documentElement.dataset.drawn = "yes";
  }

  function again() { draw(night.matches); }

  unpack().then(function () {
    again();
    night.addEventListener("change", again);
    phone.addEventListener("change", again);
    window.addEventListener("beforeprint", () => draw(false, 690));
    window.addEventListener("afterprint", again);
  }).catch(function (error) {
    for (const place of document.querySelectorAll(".plot > div")) {
      place.textContent = "This browser cannot draw the charts: " + error;
    }
  });
})();

// An explorer without a server: a slider over pictures that were computed in advance.
"use strict";
(function () {
  const frames = JSON.parse(document.getElementById("frames").textContent);
  const slider = document.getElementById("frame");
  const place = document.getElementById("chart");
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const phone = window.matchMedia("(max-width: 44rem)");

  function form(frame) {
    if (!phone.matches) return frame.figure;
    const data = frame.figure.data.map((t, i) => Object.assign({}, t, frame.narrow.traces[i]));
    return { data: data, layout: frame.narrow.layout };
  }

  function show() {
    const frame = frames[Number(slider.value)];
    const figure = JSON.parse(JSON.stringify(form(frame)), (key, value) =>
      night.matches && typeof value === "string" && key.endsWith("color") && frame.dark[value]
        ? frame.dark[value] : value);
    document.querySelector('output[for="frame"]').textContent = frame.value;
    slider.setAttribute("aria-valuetext", frame.value);
    document.getElementById("numbers").textContent = frame.words;
    document.getElementById("caption").textContent = frame.caption === frame.words ? "" : frame.caption;
    place.style.minHeight = figure.layout.height + "px";
    Plotly.react(place, figure.data, figure.layout, frame.config);
    document.documentElement.dataset.moved = String(1 + Number(document.documentElement.dataset.moved || 0));
  }

  slider.addEventListener("input", function () {
    history.replaceState(null, "", "#" + frames[Number(slider.value)].value);
    show();
  });
  const asked = frames.findIndex((frame) => "#" + frame.value === location.hash);
  if (asked >= 0) slider.value = asked;
  night.addEventListener("change", show);
  phone.addEventListener("change", show);
  show();
})();

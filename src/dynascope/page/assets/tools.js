// plotly's buttons above a chart (zoom, picture) are for a mouse: Tab reaches them too.

document.addEventListener("focusin", ({ target }) => {
  for (const button of target.closest(".plot")?.querySelectorAll(".modebar-btn") || []) {
    button.tabIndex = 0;
    button.setAttribute("role", "button");
    button.setAttribute("aria-label", button.dataset.title);
  }
});
document.addEventListener("keydown", (event) => {
  const button = event.target.closest(".modebar-btn");
  if (!button || !["Enter", " "].includes(event.key)) return;
  event.preventDefault();
  button.click();
});

"use strict";
// A cell opens a copy of the variants that it counts.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-k]");
  const dialog = document.getElementById("cell");
  if (!link || !dialog.showModal) return;
  event.preventDefault();
  const list = dialog.querySelector("ul");
  list.replaceChildren();
  for (const item of document.querySelectorAll("details.test li")) {
    if (!item.dataset.k.split(";").includes(link.dataset.k)) continue;
    const copy = item.cloneNode(true);
    const test = document.createElement("strong");
    test.textContent = item.closest("details.test").id + " ";
    (copy.querySelector("summary") || copy).prepend(test);
    if (item.className === "fail") list.prepend(copy); else list.append(copy);
  }
  dialog.querySelector("h2").textContent = link.title;
  dialog.showModal();
});
// Variants without all words of the filter are hidden, and tests without a variant that is shown.
document.getElementById("filter").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const test of document.querySelectorAll("details.test")) {
    let shown = 0;
    for (const item of test.querySelectorAll("li")) {
      const line = item.querySelector("summary") || item;
      const text = (test.id + " " + line.textContent).toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
      shown += !item.hidden;
    }
    test.hidden = shown === 0;
    test.open = words.length > 0 && shown > 0;
  }
});
// A link to a test opens it, where there is no dialog.
addEventListener("hashchange", () => {
  const test = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (test) test.open = true;
});

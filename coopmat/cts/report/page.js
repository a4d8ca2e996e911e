"use strict";
// A click on a table cell opens a dialog with copies of the variants that the cell counts, failures first.
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
// Hide the variants that lack a word of the filter, and the tests whose variants are all hidden.
document.getElementById("filter")?.addEventListener("input", (event) => {
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
// Without dialogs, a cell's link leads to a test: unfold that test.
addEventListener("hashchange", () => {
  const test = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (test) test.open = true;
});

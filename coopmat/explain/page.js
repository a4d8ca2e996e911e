"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const isVisible = (element) => element.getClientRects().length > 0;
  root.classList.add("js");

  // The theme: that of the system, light or dark; a browser may forbid pages to store the choice.
  const THEMES = ["system", "light", "dark"];
  const theme = document.getElementById("theme");
  const setTheme = (name) => {
    if (name === "system") delete root.dataset.theme; else root.dataset.theme = name;
    theme.querySelector("span").textContent = name;
    theme.setAttribute("aria-label", `color theme: ${name === "system" ? "as the system" : name}`);
  };
  if (theme) {
    let chosen = "system";
    try { chosen = localStorage.getItem("coopmat-theme") || chosen; } catch { /* the system's */ }
    setTheme(THEMES.includes(chosen) ? chosen : "system");
    theme.hidden = false;
    theme.addEventListener("click", () => {
      const next = THEMES[(THEMES.indexOf(root.dataset.theme || "system") + 1) % THEMES.length];
      setTheme(next);
      try { localStorage.setItem("coopmat-theme", next); } catch { /* until the page is closed */ }
    });
  }

  // Dialogs with maps: links open them.
  const open = (dialog) => {
    all("dialog[open]").forEach((other) => other.close());
    dialog.showModal();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#map-'], a[href^='#mul-']");
    const dialog = link && document.getElementById(link.getAttribute("href").slice(1));
    if (dialog && dialog.showModal) {
      event.preventDefault();
      open(dialog);
    } else if (event.target.matches("dialog[open]")) {
      const box = event.target.getBoundingClientRect();
      const inside = event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top;
      if (!(inside && event.clientY <= box.bottom)) event.target.close();
    }
  });

  // Tabs: arrow keys choose them.
  const tabs = all("[role=tab]");
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const choose = (tab, focus) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", other === tab);
      other.tabIndex = other === tab ? 0 : -1;
      panelOf(other).hidden = other !== tab;
    }
    if (focus) tab.focus();
    if (chosen) scrollTo(chosen);
  };
  const step = (list, item, key) => {
    const at = list.indexOf(item);
    const to = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: list.length - 1 }[key];
    return to === undefined ? undefined : list[to];
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const next = event.key.endsWith("Up") || event.key.endsWith("Down") ? undefined : step(tabs, tab, event.key);
      if (!next) return;
      event.preventDefault();
      choose(next, true);
    });
  }

  // Routes: both, or one of them; on a narrow screen one at a time.
  for (const input of all(".switch input")) {
    input.addEventListener("change", () => {
      document.body.dataset.show = input.value;
      if (chosen) scrollTo(chosen);
    });
  }

  // Lines: those of the source and the groups of lines that come from them.
  let chosen = "";
  const groups = new Map();
  for (const group of all("[data-l]")) {
    if (!groups.has(group.dataset.l)) groups.set(group.dataset.l, []);
    groups.get(group.dataset.l).push(group);
  }
  const say = (text) => { document.getElementById("status").textContent = text; };
  const mark = (line, name) => {
    all(`.${name}`).forEach((element) => element.classList.remove(name));
    const source = document.getElementById(`L${line}`);
    if (source) [source, ...(groups.get(line) || [])].forEach((element) => element.classList.add(name));
  };
  const lineOf = (target) => {
    const element = target.closest ? target.closest(".code > [data-l], .code > [id^='L']") : null;
    return element ? element.dataset.l || (groups.has(element.id.slice(1)) ? element.id.slice(1) : "") : "";
  };
  const center = (element) => {
    const box = element.parentElement;
    box.scrollTop = element.offsetTop - (box.clientHeight - Math.min(element.offsetHeight, box.clientHeight)) / 2;
    const place = element.getBoundingClientRect();
    if (place.top < 0 || place.top > innerHeight - 20) element.scrollIntoView({ block: "center" });
  };
  // Scroll to the first group of a line in each listing that is shown; return these groups.
  const scrollTo = (line) => {
    const boxes = new Map();
    for (const group of groups.get(line) || []) {
      if (isVisible(group) && !boxes.has(group.parentElement)) boxes.set(group.parentElement, group);
    }
    [...boxes.values()].reverse().forEach(center);
    return [...boxes.values()];
  };
  const go = (line, fromSource) => {
    chosen = line;
    mark(line, "chosen");
    const source = document.getElementById(`L${line}`);
    const target = fromSource ? scrollTo(line)[0] : source;
    const title = (tabs.find((tab) => tab.getAttribute("aria-selected") === "true") || {}).textContent;
    say(target ? `line ${line}` : `line ${line} has no part of its own in: ${title}`);
    if (!target) return;
    if (!fromSource) center(source);
    focusOn(target.querySelector(".n"));
  };
  const focusOn = (link) => {
    all("a.n", link.closest(".code")).forEach((other) => { other.tabIndex = other === link ? 0 : -1; });
    link.focus({ preventScroll: true });
  };
  for (const code of all(".code")) {
    const isSource = code.classList.contains("source");
    all("a.n", code).forEach((link, number) => { link.tabIndex = number ? -1 : 0; });
    code.addEventListener("click", (event) => {
      const line = lineOf(event.target);
      const link = event.target.closest("a");
      if (!line || (link && !link.classList.contains("n")) || String(getSelection()).trim()) return;
      event.preventDefault();
      go(line, isSource);
    });
    code.addEventListener("keydown", (event) => {
      const link = event.target.closest("a.n");
      if (!link || event.ctrlKey || event.altKey || event.metaKey) return;
      const line = lineOf(link);
      if (event.key === "Escape") {
        chosen = "";
        mark("", "chosen");
      } else if (event.key === (isSource ? "ArrowRight" : "ArrowLeft")) {
        go(line, isSource);
      } else if (/^(ArrowUp|ArrowDown|Home|End)$/.test(event.key)) {
        const next = step(all("a.n", code), link, event.key);
        if (next) {
          focusOn(next);
          center(next.parentElement);
        }
      } else {
        return;
      }
      event.preventDefault();
    });
    code.addEventListener("focusin", (event) => { if (event.target.matches("a.n")) mark(lineOf(event.target), "hot"); });
    code.addEventListener("mouseover", (event) => mark(lineOf(event.target), "hot"));
    code.addEventListener("mouseleave", () => mark("", "hot"));
  }
  if (tabs.length) choose(tabs[0], false);
  if (/^#L\d+$/.test(location.hash) && groups.has(location.hash.slice(2))) go(location.hash.slice(2), true);
})();

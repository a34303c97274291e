"use strict";
// Keys (/ j k), buttons that copy a command, and the search of an exported site. It makes text nodes and never HTML.
(() => {
  const box = document.getElementById("q");

  function step(by) {
    const all = Array.from(document.querySelectorAll(".row .title"));
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
    all[next].focus();
    all[next].scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "/") {
      event.preventDefault();
      if (box) { box.focus(); box.select(); }
      else location.href = document.body.dataset.search;
    }
  });
  if (box && location.hash === "#q") box.focus();

  for (const button of document.querySelectorAll("button.copy")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "copied";
    });
  }

  const data = window.memfsData;
  const place = document.getElementById("found");
  if (!data || !place || !box) return;

  function marked(text, words) {
    const whole = document.createElement("span");
    const low = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
      const hits = words.map((word) => [low.indexOf(word, at), word]).filter(([from]) => from >= 0);
      if (!hits.length || low.length !== text.length) break;
      const [from, word] = hits.sort((one, two) => one[0] - two[0])[0];
      whole.append(text.slice(at, from));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(from, from + word.length);
      whole.append(mark);
      at = from + word.length;
    }
    whole.append(text.slice(at));
    return whole;
  }

  function search() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 12);
    const found = words.length ? data.filter((one) => words.every((word) => one.text.includes(word))) : [];
    place.replaceChildren(...found.slice(0, 100).map((one) => {
      const row = document.createElement("li");
      row.className = "row";
      const link = document.createElement("a");
      link.className = "title";
      link.href = one.href;
      link.append(marked(one.title, words));
      const meta = document.createElement("p");
      meta.className = "meta";
      meta.append(`${one.state}, ${one.trust}, ${one.scope}, ${one.id}`);
      row.append(link, meta);
      return row;
    }));
    document.getElementById("count").textContent = words.length ? `${found.length} found` : "";
  }
  box.value = new URLSearchParams(location.search).get("q") || "";
  box.addEventListener("input", search);
  box.form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
  search();
})();

"use strict";
/* ---- search: the list is part of the page; nothing is asked of a server ---- */
(() => {
  const source = document.getElementById("search-data");
  const form = document.getElementById("search");
  if (!source || !form) return;
  const MOST = 12;
  const entries = JSON.parse(source.textContent);
  const hits = document.getElementById("search-hits");
  const find = () => {
    const words = document.getElementById("search-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = entries.filter(([kind, name]) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word)));
    hits.replaceChildren(...(words.length ? found.slice(0, MOST) : []).map(([kind, name, address]) => {
      const link = document.createElement("a");
      link.href = address;
      link.textContent = name;
      const hit = document.createElement("li");
      hit.append(link, ` ${kind}`);
      return hit;
    }));
    if (words.length && !found.length) hits.textContent = "Nothing found";
  };
  form.hidden = false;
  form.addEventListener("input", find);
  form.addEventListener("submit", (event) => { event.preventDefault(); hits.querySelector("a")?.click(); });
})();

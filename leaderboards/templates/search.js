"use strict";
/* ---- search: one file has what can be found; a page loads it when its search field is first used ---- */
(() => {
  const form = document.getElementById("search");
  if (!form) return;
  const MOST = 12;
  const { root } = form.dataset;
  const field = document.getElementById("search-text");
  const hits = document.getElementById("search-hits");
  const plain = (text) => text.toLowerCase().replaceAll("\u2212", "-");  // a minus sign is typed as a hyphen
  /* 0.7767 is 77.67 points, and the other way round */
  const scaled = (word) => {
    const places = word.split(".")[1]?.length;
    if (/^0?\.\d{3,}$/.test(word)) return (100 * word).toFixed(places - 2);
    return /^\d\d\.\d+$/.test(word) ? (word / 100).toFixed(places + 2) : word;
  };
  const has = (text) => { const low = plain(text); return (word) => low.includes(word) || low.includes(scaled(word)); };
  let found = null;
  /* of a table: itself; a row of which every word is known; a number, where other words name its column or value.
     The last entry of a hit is whether it is a number of one test set, which is found after the averages. */
  const inTable = (table, words) => {
    const places = words.every(has(`${table.kind} ${table.title}`)) ? [[table.kind, table.title, table.id, false]] : [];
    const short = table.title.split(":")[0];
    for (const [name, id, ...numbers] of table.rows) {
      const more = words.filter((word) => !has(`${table.title} ${name}`)(word));
      if (!more.length) places.push([short, name, id, false]);
      else {
        table.columns.forEach(([column, title, average], place) => {
          if (numbers[place] && more.every(has(`${title} ${numbers[place]}`))) {
            places.push([short, `${name}, ${title}: ${numbers[place]}`, `${id}--${column}`, !average]);
          }
        });
      }
    }
    return places.map(([kind, name, id, single]) => [kind, name, `${table.page}#${id}`, single]);
  };
  const find = () => {
    if (!found) return;
    const words = plain(field.value).split(/\s+/).filter(Boolean);
    const all = words.length ? [
      ...found.places.filter(([kind, name]) => words.every(has(`${kind} ${name}`))),
      ...found.tables.flatMap((table) => inTable(table, words)).sort((one, other) => one[3] - other[3]),
    ] : [];
    hits.replaceChildren(...all.slice(0, MOST).map(([kind, name, address]) => {
      const link = document.createElement("a");
      link.href = root + address;
      link.textContent = name;
      const hit = document.createElement("li");
      hit.append(link, ` ${kind}`);
      return hit;
    }));
    if (words.length && !all.length) hits.textContent = "Nothing found";
    if (all.length > MOST) hits.append(`${all.length - MOST} more`);
  };
  const load = () => {
    if (window.searchFound) return;
    window.searchFound = (listed) => { found = listed; find(); };
    const script = document.createElement("script");
    script.src = `${root}${form.dataset.file}`;
    script.addEventListener("error", () => { hits.textContent = `${form.dataset.file} is not here: copy it too`; });
    document.head.append(script);
  };
  form.hidden = false;
  form.addEventListener("focusin", load);
  form.addEventListener("input", find);
  form.addEventListener("submit", (event) => { event.preventDefault(); hits.querySelector("a")?.click(); });
  document.addEventListener("click", (event) => {
    if (!form.contains(event.target) || event.target.closest("#search-hits a")) hits.replaceChildren();
  });
})();

"use strict";
/* ---- sentence pairs by the reader's choice of set, systems, subset, length and gold score ---- */
(() => {
  const source = document.getElementById("pairs-data");
  if (!source) return;
  const SHOWN = 30;
  const numbers = (text) => text.match(/../g).map((two) => parseInt(two, 36));
  const sets = JSON.parse(source.textContent).map((set) => ({
    ...set,
    ids: set.subsets.flatMap(([name, count]) => Array.from({ length: count }, (_, place) => `${name} ${place + 1}`)),
    subsets: set.subsets.flatMap(([name, count]) => Array(count).fill(name)),
    goldRanks: numbers(set.goldRanks),
  }));
  const form = document.getElementById("pairs-form");
  const field = form.elements;
  const fill = (select, names, first) => {
    select.replaceChildren(...[...first, ...names.map((name) => [name, name])].map(([value, text]) => new Option(text, value)));
  };
  const chooseSet = () => {
    const set = sets[field.set.value];
    const systems = Object.keys(set.ranks);
    fill(field.system, systems, []);
    fill(field.against, systems, [["", "the gold scores"]]);
    fill(field.subset, [...new Set(set.subsets)].sort(), [["", "all"]]);
  };
  const inside = (value, range) => {
    if (!range) return true;
    const [, low, high] = range.match(/^(-?\d+)-(\d+)$/).map(Number);
    return value > low && value <= high;
  };
  const rowOf = (set, place, one, two) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = set.ids[place];
    if (set.texts.length) {
      const texts = document.createElement("span");
      texts.className = "source";
      texts.textContent = set.texts[place].join(" / ");
      head.append(texts);
    }
    const percent = (rank) => (rank / 10).toFixed(0);
    const difference = (one[place] - two[place]) / 10;
    const cells = [
      set.gold[place].toFixed(2), percent(one[place]), percent(two[place]),
      `${difference < 0 ? "−" : "+"}${Math.abs(difference).toFixed(0)}`, set.words[place].toFixed(1),
    ];
    row.append(head, ...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    return row;
  };
  const show = () => {
    const set = sets[field.set.value];
    const one = numbers(set.ranks[field.system.value]);
    const two = field.against.value ? numbers(set.ranks[field.against.value]) : set.goldRanks;
    const places = set.ids.map((_, place) => place).filter((place) => (
      (!field.subset.value || set.subsets[place] === field.subset.value)
      && inside(set.words[place], field.size.value) && inside(set.gold[place], field.gold.value)));
    const mean = places.reduce((sum, place) => sum + Math.abs(one[place] - two[place]), 0) / places.length / 10;
    places.sort((a, b) => Math.abs(one[b] - two[b]) - Math.abs(one[a] - two[a]) || a - b);
    document.querySelector("#pairs-table tbody").replaceChildren(
      ...places.slice(0, SHOWN).map((place) => rowOf(set, place, one, two)));
    document.getElementById("pairs-words").textContent = places.length
      ? `${places.length} of ${set.ids.length} pairs; the mean difference of their ranks is ${mean.toFixed(1)}.`
      : "No pair of the set is of this kind.";
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => { if (event.target === field.set) chooseSet(); show(); });
  chooseSet();
  document.getElementById("pick-pairs").hidden = false;
  show();
})();

"use strict";
/* ---- two systems by the reader's choice; the arithmetic is that of harness/report/pairing.py, and a test
   holds the two together ---- */
(() => {
  const source = document.getElementById("compare-data");
  if (!source) return;
  const { t, tasks, systems } = JSON.parse(source.textContent);
  const form = document.getElementById("pick-form");
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const halfWidth = (values) => {
    const centre = mean(values);
    const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
    return t[values.length] * Math.sqrt(squares / (values.length - 1)) / Math.sqrt(values.length);
  };
  const overSeeds = (fixed, own, other) => (
    fixed ? Object.fromEntries(Object.keys(other).map((seed) => [seed, Object.values(own)[0]])) : own);
  const differ = (one, two, first, second) => {
    const ours = overSeeds(one.exact, first, second);
    const theirs = overSeeds(two.exact, second, ours);
    const seeds = Object.keys(ours).filter((seed) => seed in theirs);
    if (!seeds.length) return null;
    const differences = seeds.map((seed) => ours[seed] - theirs[seed]);
    const half = one.exact && two.exact ? 0 : seeds.length > 1 ? halfWidth(differences) : null;
    const middle = mean(differences);
    const sure = half !== null && Math.abs(middle) > half;
    return {
      first: mean(seeds.map((seed) => ours[seed])), second: mean(seeds.map((seed) => theirs[seed])),
      middle, half, seeds: seeds.length, outcome: sure ? (middle > 0 ? "ahead" : "behind") : "not settled",
    };
  };
  const meansOf = (system, names) => {
    const seeds = Object.keys(system.scores[names[0]]).filter((seed) => names.every((name) => seed in system.scores[name]));
    return Object.fromEntries(seeds.map((seed) => [seed, mean(names.map((name) => system.scores[name][seed]))]));
  };
  const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
  const rowOf = (name, found) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    const interval = found.half === null ? "–" : `${signed(found.middle - found.half)} to ${signed(found.middle + found.half)}`;
    const cells = [found.first.toFixed(2), found.second.toFixed(2), signed(found.middle), interval, found.seeds, found.outcome];
    row.append(head, ...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    row.lastChild.className = "words";
    return row;
  };
  const show = () => {
    const [one, two] = [form.elements.first.value, form.elements.second.value].map((key) => systems[key]);
    const found = Object.keys(tasks).filter((task) => task in one.scores && task in two.scores)
      .map((task) => [task, differ(one, two, one.scores[task], two.scores[task])]).filter(([, value]) => value);
    const names = found.map(([task]) => task);
    const whole = names.length ? differ(one, two, meansOf(one, names), meansOf(two, names)) : null;
    const rows = found.map(([task, value]) => rowOf(tasks[task], value));
    document.querySelector("#pick-table tbody").replaceChildren(...(whole ? [...rows, rowOf("Mean", whole)] : rows));
    const count = (word) => found.filter(([, value]) => value.outcome === word).length;
    document.getElementById("pick-words").textContent = found.length
      ? `${one.label} is ahead on ${count("ahead")}, behind on ${count("behind")} and not settled on ${count("not settled")} of ${found.length} test sets.`
      : "The two were scored on no test set in common.";
  };
  const address = () => `#${new URLSearchParams({ first: form.elements.first.value, second: form.elements.second.value })}`;
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const name of ["first", "second"]) {
    if (asked.get(name) in systems) form.elements[name].value = asked.get(name);
  }
  if (form.elements.first.value === form.elements.second.value) form.elements.second.selectedIndex = form.elements.first.selectedIndex ? 0 : 1;
  form.addEventListener("change", () => { history.replaceState(null, "", address()); show(); });
  document.getElementById("pick").hidden = false;
  show();
})();

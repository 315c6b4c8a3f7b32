"use strict";
/* ---- two systems by the reader's choice; the arithmetic is that of harness/report/system_pairs.py, and a
   test holds the two together ---- */
(() => {
  const source = document.getElementById("compare-data");
  if (!source) return;
  const { t, same, outcomes, tasks, systems } = JSON.parse(source.textContent);
  const form = document.getElementById("pick-form");
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const halfWidth = (values, together) => {
    const centre = mean(values);
    const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
    return t[together][values.length] * Math.sqrt(squares / (values.length - 1)) / Math.sqrt(values.length);
  };
  const outcomeOf = (middle, half, exact) => {
    if (Math.abs(middle) + (half ?? 0) <= same) return "equal";
    if (exact || half === null || Math.abs(middle) <= half) return "inconclusive";
    return middle > 0 ? "won" : "lost";
  };
  const overSeeds = (fixed, own, other) => (
    fixed ? Object.fromEntries(Object.keys(other).map((seed) => [seed, Object.values(own)[0]])) : own);
  const differ = (one, two, first, second, together) => {
    const ours = overSeeds(one.exact, first, second);
    const theirs = overSeeds(two.exact, second, ours);
    const shared = Object.keys(ours).filter((seed) => seed in theirs);
    const valuesOf = (scores) => (shared.length ? shared.map((seed) => scores[seed]) : Object.values(scores));
    const [left, right] = [mean(valuesOf(ours)), mean(valuesOf(theirs))];
    const differences = shared.map((seed) => ours[seed] - theirs[seed]);
    const middle = shared.length ? mean(differences) : left - right;
    const exact = one.exact && two.exact;
    const half = exact ? 0 : shared.length > 1 ? halfWidth(differences, together) : null;
    return { first: left, second: right, middle, half, seeds: shared.length, outcome: outcomeOf(middle, half, exact) };
  };
  const meansOf = (system, names) => {
    const seeds = Object.keys(system.scores[names[0]]).filter((seed) => names.every((name) => seed in system.scores[name]));
    return Object.fromEntries(seeds.map((seed) => [seed, mean(names.map((name) => system.scores[name][seed]))]));
  };
  const points = (value) => (100 * value).toFixed(2);
  const signed = (value) => `${value < 0 ? "−" : "+"}${points(Math.abs(value))}`;
  const rowOf = (name, found) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    const interval = found.half === null ? "–" : `${signed(found.middle - found.half)} to ${signed(found.middle + found.half)}`;
    const cells = [points(found.first), points(found.second), signed(found.middle), interval, found.seeds, found.outcome];
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
    const names = Object.keys(tasks).filter((task) => task in one.scores && task in two.scores);
    const found = names.map((task) => differ(one, two, one.scores[task], two.scores[task], names.length));
    const rows = found.map((value, place) => rowOf(tasks[names[place]], value));
    const means = names.length ? [meansOf(one, names), meansOf(two, names)] : [{}];
    if (means.every((seeds) => Object.keys(seeds).length)) rows.push(rowOf("Mean", differ(one, two, ...means, 1)));
    document.querySelector("#pick-table tbody").replaceChildren(...rows);
    const counts = outcomes.map((word) => `${found.filter(({ outcome }) => outcome === word).length} ${word}`);
    document.getElementById("pick-words").textContent = found.length
      ? `${one.label}: ${counts.join(", ")} of ${found.length} test sets`
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

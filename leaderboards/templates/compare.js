"use strict";
/* ---- two systems by the reader's choice: every comparison is computed before and looked up here ---- */
(() => {
  const source = document.getElementById("compare-data");
  if (!source) return;
  const { outcomes, tasks, labels, keys, comparisons, best, jointly } = JSON.parse(source.textContent);
  const form = document.getElementById("pick-form");
  const [WON, LOST] = ["won", "lost"].map((word) => outcomes.indexOf(word));
  /* the other way round: sides change places, signs and ends are reversed */
  const turned = (row) => row && ((one, two, middle, low, high, seeds, others, outcome) => [
    two, one, -middle, high === null ? null : -high, low === null ? null : -low, others, seeds,
    outcome === WON ? LOST : outcome === LOST ? WON : outcome,
  ])(...row);
  const between = (first, second) => {
    const [rows, mean, power] = comparisons[first < second ? `${first} ${second}` : `${second} ${first}`];
    const way = first < second ? (row) => row : turned;
    return [Object.entries(rows).map(([task, row]) => [tasks[task], way(row)]), way(mean), power];
  };
  /* the mean of a pair with the best system, as it holds among all systems */
  const among = (first, second) => (first === best ? jointly[second] : second === best ? turned(jointly[first]) : null);
  const points = (value) => (value / 100).toFixed(2);
  const signed = (value) => `${value < 0 ? "−" : "+"}${points(Math.abs(value))}`;
  const rowOf = (name, [one, two, middle, low, high, seeds, others, outcome]) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    const interval = low === null ? "–" : `${signed(low)} to ${signed(high)}`;
    const cells = [points(one), points(two), signed(middle), interval, `${seeds}, ${others}`, outcomes[outcome]];
    row.append(head, ...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    row.lastChild.className = "words";
    return row;
  };
  const show = () => {
    const [first, second] = [form.elements.first.value, form.elements.second.value].map((key) => keys.indexOf(key));
    const [rows, mean, power] = first === second ? [[], null, ""] : between(first, second);
    document.querySelector("#pick-table tbody").replaceChildren(
      ...rows.map((row) => rowOf(...row)), ...(mean ? [rowOf("Mean", mean)] : []));
    const counts = outcomes.map((word, place) => `${rows.filter(([, row]) => row.at(-1) === place).length} ${word}`);
    showJointly(first, second);
    const none = first === second ? "Pick two different systems." : "The two were scored on no test set in common.";
    document.getElementById("pick-words").textContent = rows.length
      ? `${labels[first]}: ${counts.join(", ")} of ${rows.length} test sets${power && `; ${power}`}` : none;
  };
  const showJointly = (first, second) => {
    const line = document.getElementById("pick-jointly");
    const joint = first === second ? null : among(first, second);
    line.hidden = !joint;
    if (!joint) return;
    const [, , middle, low, high, , , outcome] = joint;
    const interval = low === null ? "no interval" : `${signed(low)} to ${signed(high)}`;
    line.textContent = `Tested jointly with all ${labels.length} systems, as in the table below, the mean is ${signed(middle)} (${interval}): ${outcomes[outcome]}.`;
  };
  const address = () => `#${new URLSearchParams({ first: form.elements.first.value, second: form.elements.second.value })}`;
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const name of ["first", "second"]) {
    if (keys.includes(asked.get(name))) form.elements[name].value = asked.get(name);
  }
  if (form.elements.first.value === form.elements.second.value) form.elements.second.selectedIndex = form.elements.first.selectedIndex ? 0 : 1;
  form.addEventListener("change", () => { history.replaceState(null, "", address()); show(); });
  document.getElementById("pick").hidden = false;
  show();
})();

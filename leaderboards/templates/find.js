"use strict";
/* ---- finding rows: what a reader types or picks hides the others; nothing is asked of a server ---- */
(() => {
  for (const form of document.querySelectorAll("form[data-find]")) {
    const rows = [...form.closest("section").querySelectorAll("tr.system")];
    const bodies = new Set(rows.map((row) => row.parentElement));
    const words = new Map(rows.map((row) => {
      const group = row.parentElement.querySelector("tr.group");
      return [row, `${group ? group.textContent : ""} ${row.cells[0].textContent}`.toLowerCase()];
    }));
    const wanted = (row) => {
      const { text, backbone, verdict } = form.elements;
      return text.value.toLowerCase().split(/\s+/).every((word) => words.get(row).includes(word))
        && (!backbone.value || row.dataset.backbone === backbone.value)
        && (!verdict || !verdict.value || row.querySelector(`.glyph.${verdict.value}`));
    };
    const find = () => {
      let shown = 0;
      for (const row of rows) {
        row.hidden = !wanted(row);
        shown += !row.hidden;
      }
      for (const body of bodies) body.hidden = !body.querySelector("tr.system:not([hidden])");
      const all = shown === rows.length;
      form.querySelector(".found").textContent = all ? `${shown} rows` : `${shown} of ${rows.length} rows`;
    };
    form.hidden = false;
    form.addEventListener("input", find);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(find));
    find();
  }
})();

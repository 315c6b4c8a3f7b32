"use strict";
/* ---- finding rows: what a reader types or picks hides the others; nothing is asked of a server ---- */
(() => {
  for (const form of document.querySelectorAll("form[data-find]")) {
    const rows = [...form.parentElement.querySelectorAll(form.dataset.find)];
    const blocks = new Set(rows.map((row) => row.closest(".table-block")));
    const bodies = new Set(rows.map((row) => row.parentElement));
    const words = new Map(rows.map((row) => {
      const group = row.parentElement.querySelector("tr.group");
      const text = row.matches(".system") ? row.cells[0].textContent : `${row.closest("table").caption.textContent} ${row.textContent}`;
      return [row, `${group ? group.textContent : ""} ${text}`.toLowerCase()];
    }));
    /* a number is looked for in the cells: as printed, or in points where the table has another scale */
    const has = (row) => (word) => words.get(row).includes(word)
      || (/^[-\u2212]?\d*\.\d+$/.test(word) && [...row.cells].slice(1).some((cell) => cell.textContent.includes(word)));
    const wanted = (row) => {
      const { text, backbone, verdict } = form.elements;
      return text.value.toLowerCase().split(/\s+/).every(has(row))
        && (!backbone || !backbone.value || row.dataset.backbone === backbone.value)
        && (!verdict || !verdict.value || row.querySelector(`.glyph.${verdict.value}`));
    };
    const find = () => {
      let shown = 0;
      for (const row of rows) {
        row.hidden = !wanted(row);
        shown += !row.hidden;
      }
      const all = shown === rows.length;
      for (const body of bodies) body.hidden = ![...body.rows].some((row) => rows.includes(row) && !row.hidden);
      for (const block of blocks) {
        block.classList.toggle("found-in", !all); /* what is found is not folded */
        if (!block.querySelector(".scores")) block.hidden = [...block.querySelectorAll("tbody")].every((body) => body.hidden);
      }
      form.querySelector(".found").textContent = all ? `${shown} rows` : `${shown} of ${rows.length} rows`;
    };
    form.hidden = false;
    form.addEventListener("input", find);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(find));
    find();
  }
})();

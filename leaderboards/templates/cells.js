"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  /* ---- facts of a cell: the same list in the tip and in the dialog ---- */
  const facts = JSON.parse(byId("facts-data")?.textContent ?? "[]");
  const fillFacts = (list, cell) => {
    list.replaceChildren(...cell.dataset.facts.split(" ").map((place) => facts[place]).map(([label, text]) => {
      const pair = document.createElement("div");
      const term = document.createElement("dt");
      const words = document.createElement("dd");
      term.textContent = label;
      words.textContent = text;
      pair.append(term, words);
      return pair;
    }));
  };

  /* ---- tip on hover and focus; Escape hides it, and the pointer may enter it ---- */
  const tip = byId("tip");
  let tipped = null;
  let hiding = 0;
  const hideTip = () => {
    clearTimeout(hiding);
    tip.hidden = true;
    if (tipped) tipped.removeAttribute("aria-describedby");
    tipped = null;
  };
  const showTip = (cell) => {
    if (cell === tipped) { clearTimeout(hiding); return; }
    hideTip();
    const list = document.createElement("dl");
    list.className = "facts";
    fillFacts(list, cell);
    tip.replaceChildren(list);
    tip.hidden = false;
    placeTip(cell);
    cell.setAttribute("aria-describedby", "tip");
    cell.dataset.title = titleOf(cell);
    tipped = cell;
  };
  const placeTip = (cell) => {
    const at = cell.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left), root.clientWidth - tip.offsetWidth - 8);
    const below = at.bottom + 6 + tip.offsetHeight <= innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - tip.offsetHeight - 6)}px`;
  };
  const titleOf = (cell) => {
    const row = cell.closest("tr");
    const group = row.parentElement.querySelector("tr.group");
    const head = cell.closest("table").tHead.rows[0].cells[cell.parentElement.cellIndex];
    const parts = [group, row.cells[0].querySelector(".here"), head.querySelector("button")];
    return parts.filter(Boolean).map((part) => part.textContent.trim()).join(" · ");
  };
  const runsOf = (cell) => {
    if (!(cell instanceof HTMLAnchorElement)) return [];
    const [start, ends] = (cell.dataset.runs || cell.closest("tr").dataset.runs || "").split("|");
    return ends === undefined ? [] : ends.split(" ").map((end) => start + end); /* the start is common to all */
  };
  const cellOf = (target) => (target instanceof Element ? target.closest(".cell") : null);
  document.addEventListener("mouseover", (event) => {
    const cell = cellOf(event.target);
    if (cell) showTip(cell);
    else if (tip.contains(event.target)) clearTimeout(hiding);
    else if (tipped) { clearTimeout(hiding); hiding = setTimeout(hideTip, 120); }
  });
  document.addEventListener("focusin", (event) => {
    const cell = cellOf(event.target);
    if (cell) showTip(cell); else hideTip();
  });
  document.addEventListener("scroll", () => {
    if (tipped && tipped === document.activeElement) placeTip(tipped);
    else hideTip();
  }, { capture: true, passive: true });

  /* ---- one tab stop a table; arrow keys walk between its cells ---- */
  const cellsOf = (table) => [...table.querySelectorAll("td > .cell")];
  const moveStop = (table, cell) => {
    const before = table.querySelector('.cell[tabindex="0"]');
    if (before) before.tabIndex = -1;
    cell.tabIndex = 0;
  };
  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const neighbour = (cell, [down, right]) => {
    const table = cell.closest("table");
    let row = cell.closest("tr").rowIndex;
    let column = cell.parentElement.cellIndex;
    for (;;) {
      row += down;
      column += right;
      const place = table.rows[row]?.cells[column];
      if (!table.rows[row] || column < 1 || column >= table.rows[0].cells.length) return null;
      const next = place?.querySelector(".cell");
      if (next && next.checkVisibility()) return next; /* not in a folded row */
    }
  };
  for (const table of document.querySelectorAll("table.scores")) {
    const cells = cellsOf(table);
    for (const cell of cells) cell.tabIndex = -1;
    for (const link of table.querySelectorAll(".here")) link.tabIndex = -1;
    if (cells.length) cells[0].tabIndex = 0;
    table.addEventListener("focusin", (event) => {
      const cell = cellOf(event.target);
      if (cell) moveStop(table, cell);
    });
    table.addEventListener("keydown", (event) => {
      const cell = cellOf(event.target);
      if (!cell || !STEPS[event.key]) return;
      event.preventDefault();
      const next = neighbour(cell, STEPS[event.key]);
      if (!next) return;
      next.focus({ preventScroll: true });
      bringIntoView(next);
      showTip(next);
    });
  }
  /* the sticky head and first column must not cover the cell that has the focus */
  const bringIntoView = (cell) => {
    const box = cell.closest(".scroller");
    const table = cell.closest("table");
    const [name, second] = cell.closest("tr").cells;
    const first = (getComputedStyle(second).position === "sticky" ? second : name).getBoundingClientRect();
    let at = cell.parentElement.getBoundingClientRect();
    const frame = box.getBoundingClientRect();
    if (cell.parentElement !== second && at.left < first.right) box.scrollLeft -= first.right - at.left;
    else if (at.right > frame.right) box.scrollLeft += at.right - frame.right;
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    at = cell.parentElement.getBoundingClientRect();
    const head = table.tHead.offsetHeight;
    if (at.top < head) scrollBy(0, at.top - head);
    dispatchEvent(new Event("scroll")); /* heads that move with the window follow at once */
  };

  /* ---- a cell's runs: their sections are lent to the dialog and go back when it closes ---- */
  const dialog = byId("cell-dialog");
  const lent = [];
  let openCell = null;
  const runRows = (section) => [...section.querySelectorAll(".runs tbody tr")];
  const lend = (section, wanted) => {
    const place = document.createComment("lent to the dialog");
    section.before(place);
    lent.push({ section, place, open: section.open });
    section.open = true;
    for (const row of runRows(section)) row.hidden = !wanted.has(row.cells[0].textContent);
    byId("cell-dialog-runs").append(section);
  };
  dialog.addEventListener("close", () => {
    for (const { section, place, open } of lent.splice(0)) {
      for (const row of runRows(section)) row.hidden = false;
      section.open = open;
      place.replaceWith(section);
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
    const cell = cellOf(event.target);
    if (!cell || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    showCell(cell);
  });
  /* the address of the page becomes that of the cell, without a step in the history */
  const showCell = (cell) => {
    hideTip();
    history.replaceState(null, "", `#${cell.parentElement.id}`);
    const wanted = new Set(runsOf(cell));
    openCell = cell;
    byId("cell-dialog-title").textContent = titleOf(cell);
    byId("cell-dialog-link").href = `#${cell.parentElement.id}`;
    byId("cell-dialog-evidence").hidden = !cell.dataset.evidence;
    byId("cell-dialog-evidence").href = `${byId("cell-dialog-evidence").dataset.page}#${cell.dataset.evidence}`;
    fillFacts(byId("cell-dialog-facts"), cell);
    for (const section of document.querySelectorAll("details.system")) {
      if (runRows(section).some((row) => wanted.has(row.cells[0].textContent))) {
        lend(section, wanted);
      }
    }
    dialog.showModal();
    dialog.scrollTop = 0;
  };
  byId("cell-dialog-evidence").addEventListener("click", () => dialog.close());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
    const cell = cellOf(event.target);
    if (event.key === "Enter" && cell && !(cell instanceof HTMLAnchorElement)) {
      event.preventDefault(); /* else the key would press the button that the dialog gives the focus */
      showCell(cell);
    }
  });

  /* ---- copying: the address, the entries for a bibliography, or the command of what stands around ---- */
  const quoted = (text) => (/^[\w@./-]+$/.test(text) ? text : `"${text}"`);
  const commandOf = (cell) => {
    const row = cell.closest("tr");
    const table = cell.closest("table");
    if (!cell.querySelector(".published")) {
      return `dvc repro ${runsOf(cell).map((run) => `evaluate@${run}`).join(" ")}`;
    }
    const column = table.tHead.rows[0].cells[cell.parentElement.cellIndex].dataset.column;
    return `sentbench verify ${[table.dataset.table, row.dataset.row, column].map(quoted).join(" ")}`;
  };
  const wordsFor = (button) => {
    const cell = dialog.open ? openCell : null;
    const block = button.closest(".table-block");
    if (button.dataset.copy === "citation") return byId("citation").textContent.trim();
    if (button.dataset.copy === "link") {
      return `${location.href.split("#")[0]}#${cell ? cell.parentElement.id : block.id}`;
    }
    return cell ? commandOf(cell) : block.querySelector("table").dataset.command;
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch { /* no clipboard without permission: the selection of a field can always be copied */
      const field = document.createElement("textarea");
      field.value = text;
      (dialog.open ? dialog : document.body).append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await copy(wordsFor(button));
      const name = button.textContent;
      button.textContent = "Copied";
      byId("announcer").textContent = `Copied: ${wordsFor(button).split("\n")[0]}`;
      setTimeout(() => { button.textContent = name; }, 1500);
    });
  }
})();

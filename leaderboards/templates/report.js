"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  /* ---- colour scheme: the reader's choice over the system's ---- */
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const schemeSwitch = document.querySelector("[data-scheme-switch]");
  const remembered = {
    get() { try { return localStorage.getItem("scheme"); } catch { return null; } },
    set(scheme) { try { localStorage.setItem("scheme", scheme); } catch { /* a page opened from a file may not */ } },
  };
  const isDark = () => (root.dataset.scheme || (dark.matches ? "dark" : "light")) === "dark";
  const labelSwitch = () => { schemeSwitch.textContent = isDark() ? "Light page" : "Dark page"; };
  if (["light", "dark"].includes(remembered.get())) root.dataset.scheme = remembered.get();
  schemeSwitch.addEventListener("click", () => {
    root.dataset.scheme = isDark() ? "light" : "dark";
    remembered.set(root.dataset.scheme);
    labelSwitch();
  });
  dark.addEventListener("change", labelSwitch);
  labelSwitch();
  schemeSwitch.hidden = false;

  /* ---- facts of a cell: the same list in the tip and in the dialog ---- */
  const fillFacts = (list, cell) => {
    list.replaceChildren(...JSON.parse(cell.dataset.facts).map(([label, text]) => {
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
    return (cell.dataset.runs || cell.closest("tr").dataset.runs || "").split(" ").filter(Boolean);
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
      if (next) return next;
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
    const first = cell.closest("tr").cells[0].getBoundingClientRect();
    let at = cell.parentElement.getBoundingClientRect();
    const frame = box.getBoundingClientRect();
    if (at.left < first.right) box.scrollLeft -= first.right - at.left;
    else if (at.right > frame.right) box.scrollLeft += at.right - frame.right;
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    at = cell.parentElement.getBoundingClientRect();
    const head = table.tHead.offsetHeight;
    if (at.top < head) scrollBy(0, at.top - head);
    stickHeads();
  };

  /* ---- a table that fits its column has no scroller, and its head sticks by style alone; the head of one
     that scrolls sideways is moved down with the window ---- */
  const scrollers = [...document.querySelectorAll(".scroller")];
  let moving = [];
  const fitTables = () => {
    const fits = scrollers.map((box) => box.firstElementChild.offsetWidth <= box.clientWidth);
    moving = [];
    scrollers.forEach((box, place) => {
      box.classList.toggle("fits", fits[place]);
      if (fits[place]) box.removeAttribute("tabindex"); else box.tabIndex = 0;
      const table = box.firstElementChild;
      if (table.tHead) table.tHead.style.transform = "";
      if (!fits[place] && table.classList.contains("scores")) moving.push(table);
    });
    stickHeads();
  };
  const stickHeads = () => {
    for (const table of moving) {
      const at = table.getBoundingClientRect();
      const above = at.top + table.tHead.offsetTop;
      const room = table.offsetHeight - table.tHead.offsetTop - table.tHead.offsetHeight * 2;
      const down = Math.max(0, Math.min(-above, room));
      table.tHead.style.transform = down ? `translateY(${down}px)` : "";
    }
  };
  addEventListener("scroll", stickHeads, { passive: true });
  addEventListener("beforeprint", () => { for (const table of moving) table.tHead.style.transform = ""; });
  document.addEventListener("toggle", fitTables, true);
  new ResizeObserver(fitTables).observe(root);

  /* ---- sorting: down, up, as printed; within each group ---- */
  const keyOf = (row, column) => {
    if (column === 0) return row.cells[0].textContent.trim().toLowerCase();
    const order = row.cells[column].dataset.order;
    return order === undefined ? null : Number(order);
  };
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  const sortBody = (body, column, direction) => {
    const rows = [...body.querySelectorAll("tr.system")];
    rows.sort((one, other) => {
      const printed = one.dataset.printed - other.dataset.printed;
      if (direction === "none") return printed;
      const [a, b] = [keyOf(one, column), keyOf(other, column)];
      if (a === null || b === null) return (a === null) - (b === null) || printed;
      return (direction === "ascending" ? compare(a, b) : compare(b, a)) || printed;
    });
    body.append(...rows);
  };
  for (const table of document.querySelectorAll("table.scores")) {
    [...table.querySelectorAll("tr.system")].forEach((row, place) => { row.dataset.printed = place; });
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = head.querySelector("button");
      button.disabled = false;
      button.addEventListener("click", () => {
        const turns = column === 0 ? ["ascending", "descending", "none"] : ["descending", "ascending", "none"];
        const next = turns[(turns.indexOf(head.ariaSort || "none") + 1) % turns.length];
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        if (next !== "none") head.setAttribute("aria-sort", next);
        for (const body of table.tBodies) sortBody(body, column, next);
        byId("announcer").textContent = next === "none"
          ? "Rows in their printed order" : `Sorted by ${button.textContent}, ${next}`;
      });
    });
  }

  /* ---- a cell's runs: their sections are lent to the dialog and go back when it closes ---- */
  const dialog = byId("cell-dialog");
  const lent = [];
  let openCell = null;
  const lend = (section, wanted) => {
    const place = document.createComment("lent to the dialog");
    section.before(place);
    lent.push({ section, place, open: section.open });
    section.open = true;
    for (const part of section.querySelectorAll("[data-run]")) part.hidden = !wanted.has(part.dataset.run);
    byId("cell-dialog-runs").append(section);
  };
  dialog.addEventListener("close", () => {
    for (const { section, place, open } of lent.splice(0)) {
      for (const part of section.querySelectorAll("[data-run]")) part.hidden = false;
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
    fillFacts(byId("cell-dialog-facts"), cell);
    for (const section of document.querySelectorAll("details.system")) {
      if ([...section.querySelectorAll("tr[data-run]")].some((row) => wanted.has(row.dataset.run))) {
        lend(section, wanted);
      }
    }
    const apart = cell.getAttribute("href");
    if (apart && !apart.startsWith("#")) {
      const link = document.createElement("a");
      link.href = apart;
      link.textContent = "The records of its runs";
      byId("cell-dialog-runs").replaceChildren(link);
    }
    dialog.showModal();
    dialog.scrollTop = 0;
  };
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

  /* ---- a link to a closed part opens it ---- */
  const openTarget = () => {
    const part = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
    for (let at = part; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
    if (part) part.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  fitTables();
  openTarget();
})();

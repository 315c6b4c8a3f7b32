"use strict";
(() => {
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
  document.addEventListener("change", fitTables);
  new ResizeObserver(fitTables).observe(document.documentElement);
  fitTables();

  /* ---- sorting: down, up, as printed; within each group ---- */
  const keyOf = (row, column) => {
    if (column === 0) return row.cells[0].textContent.trim().toLowerCase();
    const cell = row.cells[column];
    const number = parseFloat(cell.dataset.order ?? cell.querySelector(".ours, .published")?.textContent.replace("†", ""));
    return Number.isNaN(number) ? null : number;
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
        document.getElementById("announcer").textContent = next === "none"
          ? "Rows in their printed order" : `Sorted by ${button.textContent}, ${next}`;
      });
    });
  }
})();

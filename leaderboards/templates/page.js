"use strict";
(() => {
  const root = document.documentElement;

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

  /* ---- a link to a closed part opens it ---- */
  const openTarget = () => {
    const part = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    for (let at = part; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
    if (part && part.closest(".bare")) part.closest(".table-block").querySelector(".unfold").checked = true;
    if (part) part.scrollIntoView();
    const cell = part && part.querySelector(":scope > .cell"); /* a link to a cell opens its dialog */
    if (cell) cell.click();
  };
  addEventListener("hashchange", openTarget);
  openTarget();
})();

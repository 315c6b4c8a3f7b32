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

  /* ---- a picture as PNG: the drawing that is shown, in the colours that are shown ---- */
  for (const figure of document.querySelectorAll("figure.chart")) {
    const save = document.createElement("button");
    save.type = "button";
    save.textContent = "PNG";
    save.addEventListener("click", () => {
      const drawing = [...figure.querySelectorAll(".drawing svg")].find((one) => one.getBoundingClientRect().width);
      const { width, height } = drawing.getBoundingClientRect();
      const copy = drawing.cloneNode(true);
      const shown = drawing.querySelectorAll("*");
      copy.querySelectorAll("*").forEach((part, place) => {
        const style = getComputedStyle(shown[place]);
        for (const name of ["fill", "stroke", "font", "opacity"]) part.style[name] = style[name];
      });
      copy.setAttribute("width", width);
      copy.setAttribute("height", height);
      const image = new Image();
      image.addEventListener("load", () => {
        const canvas = document.createElement("canvas");
        canvas.width = 2 * width;
        canvas.height = 2 * height;
        const ink = canvas.getContext("2d");
        ink.fillStyle = getComputedStyle(document.body).backgroundColor;
        ink.fillRect(0, 0, canvas.width, canvas.height);
        ink.drawImage(image, 0, 0, canvas.width, canvas.height);
        const link = document.createElement("a");
        link.download = `${figure.id.replace("figure-", "")}.png`;
        link.href = canvas.toDataURL("image/png");
        link.click();
      });
      image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
    });
    figure.querySelector(".take")?.append(" ", save);
  }

  /* ---- a link to a closed part opens it ---- */
  const openTarget = () => {
    const part = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    for (let at = part; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
    if (part) part.scrollIntoView();
    const cell = part && part.querySelector(":scope > .cell"); /* a link to a cell opens its dialog */
    if (cell) cell.click();
  };
  addEventListener("hashchange", openTarget);
  openTarget();
})();

"use strict";
for (const head of document.querySelectorAll("th[data-sort]")) {
  head.tabIndex = 0;
  const sort = () => {
    const body = head.closest("table").tBodies[0], column = head.cellIndex, up = head.dataset.sort !== "up";
    head.dataset.sort = up ? "up" : "down";
    const key = (row) => { const text = row.cells[column].dataset.value ?? row.cells[column].textContent.trim(), number = Number.parseFloat(text); return Number.isNaN(number) ? text : number; };
    const rows = [...body.rows].sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1); });
    body.append(...rows);
  };
  head.onclick = sort;
  head.onkeydown = (event) => { if (event.key === "Enter") sort(); };
}
for (const cell of document.querySelectorAll("td[data-cell]")) {
  cell.tabIndex = 0;
  const pick = () => {
    const chosen = cell.getAttribute("aria-selected") === "true" ? "" : cell.dataset.cell;
    for (const other of document.querySelectorAll("td[data-cell]")) other.setAttribute("aria-selected", String(other.dataset.cell === chosen));
    let shown = 0;
    for (const picture of document.querySelectorAll(".gallery figure[data-pair]")) { picture.hidden = chosen !== "" && picture.dataset.pair !== chosen; shown += picture.hidden ? 0 : 1; }
    const note = document.getElementById("gallery-note");
    if (note) note.textContent = chosen === "" ? "" : `${shown} shown for ${cell.title}; click the cell again to see all`;
  };
  cell.onclick = pick;
  cell.onkeydown = (event) => { if (event.key === "Enter") pick(); };
}
const strength = document.getElementById("strength");
if (strength) strength.oninput = () => { for (const part of document.querySelectorAll(".overlays")) part.style.setProperty("--strength", String(strength.value / 100)); };

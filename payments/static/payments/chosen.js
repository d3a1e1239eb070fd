"use strict";
// Says how many rows are chosen and their sums, how many each button will act on, and which rows stay as they are.
const bar = document.querySelector("#changelist-form .actions"), NAMED = 3;
const boxes = [...document.querySelectorAll("#result_list .action-select")];
const buttons = [...bar.querySelectorAll("button[name=action]")];
const [sum, why, clear] = [".chosen-sum strong", ".chosen-why", ".clear-chosen"].map((it) => bar.querySelector(it));
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
const rowOf = (box) => box.closest("tr");
const sumOf = (chosen) => {
  const sums = new Map();
  for (const box of chosen) {
    // An amount has the sign of its currency, which a number of things has not.
    const found = /^(−?)(₱|[A-Z]{3}\s)([\d,]+(?:\.\d+)?)$/.exec(rowOf(box).querySelector(".number")?.textContent.trim());
    if (!found) continue;
    const decimals = (found[3].split(".")[1] ?? "").length, had = sums.get(found[2]) ?? { units: 0, decimals };
    had.units += Number(found[3].replace(/[,.]/g, "")) * (found[1] ? -1 : 1);
    sums.set(found[2], had);
  }
  return [...sums].map(([sign, { units, decimals }]) => {
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return (units < 0 ? "−" : "") + sign + (Math.abs(units) / 10 ** decimals).toLocaleString("en-US", digits);
  });
};
const named = (rows) => {
  const texts = rows.slice(0, NAMED).map((box) => {
    const state = rowOf(box).querySelector(".chip")?.textContent.trim();
    return rowOf(box).querySelector("th").textContent.trim() + (state ? ` (${state})` : "");
  });
  return [...texts, ...(rows.length > NAMED ? [fill(bar.dataset.more, { count: rows.length - NAMED })] : [])].join(", ");
};
const update = () => {
  const chosen = boxes.filter((box) => box.checked), parts = new Map();
  for (const button of buttons) {
    const allows = (box) => box.dataset.acts.split(" ").includes(button.value);
    const count = chosen.filter(allows).length, others = chosen.filter((box) => !allows(box));
    button.hidden = !count;
    button.textContent = `${button.dataset.label} ${count}`;
    if (!count || !others.length) continue;
    const rows = named(others), part = parts.get(rows) ?? { acts: [], count };
    part.acts.push(button.dataset.label);
    parts.set(rows, part);
  }
  sum.textContent = [fill(bar.dataset.chosen, { count: chosen.length }), ...sumOf(chosen)].join(", ");
  const lines = [...parts].map(([rows, { acts, count }]) =>
    fill(bar.dataset.part, { acts: acts.join(", "), count, all: chosen.length, rows }));
  // Every row can be exported, which does not say why nothing else is possible.
  const acts = buttons.filter((button) => button.value !== "export");
  if (chosen.length && acts.every((button) => button.hidden))
    lines.push(fill(bar.dataset.none, { acts: acts.map((button) => button.dataset.label).join(", "), rows: named(chosen) }));
  why.replaceChildren(...lines.map((line) => Object.assign(document.createElement("span"), { textContent: line })));
  why.hidden = !lines.length;
};
clear.hidden = false;
clear.addEventListener("click", () => {
  for (const box of boxes.filter((each) => each.checked)) box.click();
});
document.getElementById("changelist-form").addEventListener("change", update);
window.addEventListener("pageshow", update);
update();

"use strict";
// Loads the page again while its object is pending, unless it is hidden, an entry is open or something was typed.
const pending = document.querySelector("[data-refresh-seconds]");
if (pending) {
  let isTouched = false;
  document.addEventListener("input", () => (isTouched = true));
  setInterval(() => {
    const isOpen = document.querySelector(".timeline details[open]");
    if (!isTouched && !isOpen && !document.hidden) location.reload();
  }, pending.dataset.refreshSeconds * 1000);
}

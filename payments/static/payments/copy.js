"use strict";
// Adds a button to each copyable text.
for (const text of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${text.dataset.copiedAs || text.dataset.copy}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.dataset.copy);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  text.append(" ", button);
}

"use strict";
// Adds a button to each copyable text; beside a short ID it is a sign.
const words = document.currentScript.dataset;
for (const text of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button"), link = text.closest("a");
  button.type = "button";
  button.className = text.classList.contains("id") ? "copy sign" : "copy";
  const label = text.dataset.copyLabel || words.copy;
  button.textContent = label;
  button.setAttribute("aria-label", words.named.replace("{what}", () => text.dataset.copiedAs || text.dataset.copy));
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.dataset.copy);
    button.textContent = words.copied;
    setTimeout(() => (button.textContent = label), 2000);
  });
  if (link) link.after(" ", button);
  else text.append(" ", button);
}

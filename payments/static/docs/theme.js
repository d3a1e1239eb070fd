// Light or dark: what the reader chose before, else what the system has. Runs in the head, so that nothing flashes.
(() => {
  const root = document.documentElement;
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.createElement("button");
    button.type = "button";
    const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.title = `Show the ${isDark() ? "light" : "dark"} colours`; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      localStorage.setItem("theme", root.dataset.theme);
      label();
    });
    label();
    document.querySelector("header").append(button);
  });
})();

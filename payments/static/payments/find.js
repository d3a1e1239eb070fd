// Focus the search box on "/" or Ctrl+K (Cmd+K on a Mac).
document.addEventListener("keydown", (event) => {
  const box = document.querySelector(".find input[type=search]");
  const command = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
  const typed = event.target.closest("input, textarea, select, [contenteditable]");
  const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !typed;
  if (!box || event.isComposing || !(command || slash)) return;
  event.preventDefault();
  box.focus();
  box.select();
});

"use strict";
// Shows the file that a person chose, a picture too, from their own browser: kaha seals it, and shows it no more.
for (const field of document.querySelectorAll("input[type=file][data-preview]")) {
  const tile = document.createElement("div");
  tile.className = "piece";
  tile.setAttribute("role", "status");
  field.addEventListener("change", () => {
    const [file] = field.files;
    if (!file) return tile.remove();
    const words = document.createElement("span");
    words.textContent = `${file.name}, ${Math.ceil(file.size / 1024).toLocaleString("en-US")} KB`;
    tile.replaceChildren(words);
    field.after(tile);
    if (!["image/png", "image/jpeg"].includes(file.type)) return;
    const picture = document.createElement("img");
    picture.alt = "";
    picture.src = URL.createObjectURL(file);
    picture.onload = () => URL.revokeObjectURL(picture.src);
    tile.prepend(picture);
  });
}

"use strict";
// Shows the picture that was chosen, before it is sent.
const input = document.querySelector(".picture-file");
input.addEventListener("change", () => {
  input.parentElement.querySelector(".brand-picture")?.remove();
  const [file] = input.files;
  if (!file) return;
  const reader = new FileReader();
  reader.addEventListener("load", () => {
    const shown = new Image();
    shown.className = "brand-picture";
    shown.alt = "";
    // What is no picture is not shown; the page says why once it is sent.
    shown.addEventListener("load", () => input.after(shown));
    shown.src = reader.result;
  });
  reader.readAsDataURL(file);
});

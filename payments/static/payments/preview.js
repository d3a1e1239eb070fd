"use strict";
// Shows what the payer will see after each change of the form.
const button = document.querySelector("[formtarget]");
button.form.addEventListener("change", () => {
  // A new frame, because each page in the same one would be a step back in the browser's history.
  const frame = document.querySelector("iframe"), fresh = frame.cloneNode();
  fresh.removeAttribute("src");
  frame.replaceWith(fresh);
  button.form.requestSubmit(button);
});

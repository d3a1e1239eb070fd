"use strict";
// Says how far the file of a list is, which the browser says only in bytes. Without this script it is downloaded alike.
const PIECE = 16 * 1024 * 1024, LINE_END = 10, QUOTE = 34;
// How a file says at its end that there are more rows: this is no row.
const CUT = /\n"Cut after \d+ rows: [^"\n]*"\r\n$/, CUT_BYTES = 200;
const shown = (words, count) => words.replace("{count}", () => count.toLocaleString("en-US"));
// Counts the rows of a file, piece by piece: a line may end inside quotes, too. The first row has the heads.
const rowCounter = () => {
  let count = -1, quoted = false;
  return (bytes) => {
    for (const byte of bytes) {
      if (byte === QUOTE) quoted = !quoted;
      else if (byte === LINE_END && !quoted) count += 1;
    }
    return Math.max(count, 0);
  };
};
const save = (parts, answer) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
  link.download = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))[1];
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
const read = async (answer, says) => {
  // What a browser keeps as a blob it may put on disk.
  let parts = [], size = 0, count = 0;
  const reader = answer.body.getReader(), counted = rowCounter();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    parts.push(piece.value);
    size += piece.value.length;
    count = counted(piece.value);
    says(count, false);
    if (size > PIECE) [parts, size] = [[new Blob(parts)], 0];
  }
  const isCut = CUT.test(await new Blob(parts).slice(-CUT_BYTES).text());
  save(parts, answer);
  says(count - (isCut ? 1 : 0), true);
};
for (const start of document.querySelectorAll("[data-export]")) {
  const bar = document.createElement("p"), text = document.createElement("span"), close = document.createElement("button");
  bar.className = "export-bar";
  text.setAttribute("role", "status");
  close.type = "button";
  bar.append(text, close);
  let ends = null;
  start.addEventListener(start.tagName === "FORM" ? "submit" : "click", async (event) => {
    event.preventDefault();
    ends?.abort();
    const words = start.dataset, own = ends = new AbortController();
    let count = 0;
    const says = (now, isDone) => {
      count = now;
      // A screen reader says the end, and not each piece.
      text.setAttribute("aria-busy", String(!isDone));
      text.textContent = shown(isDone ? words.done : words.soFar, count);
      close.textContent = isDone ? words.close : words.cancel;
    };
    says(0, false);
    close.onclick = () => {
      own.abort();
      bar.remove();
    };
    document.body.append(bar);
    const sent = start.tagName === "FORM" ? { method: "POST", body: new URLSearchParams(new FormData(start)) } : {};
    try {
      const answer = await fetch(start.action || start.href, { ...sent, redirect: "manual", signal: own.signal });
      // The page that it leads to says why there is no file now.
      if (answer.type === "opaqueredirect") return location.reload();
      if (!answer.ok) throw new Error(answer.statusText);
      await read(answer, says);
    } catch {
      if (own.signal.aborted) return;
      says(count, true);
      text.textContent = shown(words.stopped, count);
    }
  });
}

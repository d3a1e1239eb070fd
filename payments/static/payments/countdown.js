"use strict";
// Counts down the time that is left, then loads the page again, which shows the outcome.
const left = document.querySelector("[data-seconds-left]");
if (left) {
  const ends = performance.now() + Number(left.dataset.secondsLeft) * 1000;
  const timer = setInterval(() => {
    const seconds = Math.max(0, Math.round((ends - performance.now()) / 1000));
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (seconds === 0) {
      clearInterval(timer);
      setTimeout(() => location.reload(), 1000);
    }
  }, 1000);
}

// The reference: the language of the samples, copies of them, and the section that is read. All of the page is there
// without it. The first part runs in the head, so that the samples of other languages are never drawn.
(() => {
  const root = document.documentElement;
  const LANGUAGES = ["curl", "Python", "JavaScript", "PHP"];
  const MAX_RESULTS = 12;
  const remembered = localStorage.getItem("language");
  root.dataset.language = LANGUAGES.includes(remembered) ? remembered : "curl";

  function chooseLanguages() {
    const tabs = [...document.querySelectorAll("button[data-language]")];
    const show = () => tabs.forEach((tab) => tab.setAttribute("aria-pressed", tab.dataset.language === root.dataset.language));
    document.addEventListener("click", (event) => {
      const tab = event.target.closest("button[data-language]");
      if (!tab) return;
      const before = tab.getBoundingClientRect().top;
      root.dataset.language = tab.dataset.language;
      localStorage.setItem("language", tab.dataset.language);
      show();
      // Samples above have another length now: the reader stays where they are.
      scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
    });
    show();
  }

  function copySamples() {
    document.addEventListener("click", async (event) => {
      const button = event.target.closest("button.copy");
      if (!button) return;
      const figure = [...button.closest(".samples").querySelectorAll("figure")].find((one) => one.offsetParent);
      await navigator.clipboard.writeText(figure.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    if (!navigator.clipboard) document.querySelectorAll("button.copy").forEach((button) => button.remove());
  }

  function followReader() {
    const links = new Map([...document.querySelectorAll("#contents a[href^='#']")].map((link) => [link.hash.slice(1), link]));
    const mark = (id) => {
      document.querySelector("#contents a[aria-current]")?.removeAttribute("aria-current");
      const link = links.get(id);
      link.setAttribute("aria-current", "true");
      const nav = document.querySelector("#contents");
      const [box, frame] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
      if (box.top < frame.top || box.bottom > frame.bottom) nav.scrollTop += box.top - frame.top - frame.height / 2;
    };
    const observer = new IntersectionObserver((entries) => {
      const entered = entries.filter((entry) => entry.isIntersecting && links.has(entry.target.id));
      if (entered.length) mark(entered.at(-1).target.id);
    }, { rootMargin: "-10% 0px -80% 0px" });
    document.querySelectorAll("[data-title]").forEach((section) => observer.observe(section));
  }

  // Below each other, answers would part the calls; the reader opens those that matter.
  function closeAnswers() {
    if (!matchMedia("(max-width: 75rem)").matches) return;
    document.querySelectorAll(".code details[open]").forEach((answer) => { answer.open = false; });
  }

  document.addEventListener("DOMContentLoaded", () => { closeAnswers(); chooseLanguages(); copySamples(); followReader(); });
})();

// The reference: the language of the samples, copies of them, search, and the section that is read. All of the page is
// there without it. The first part runs in the head, so that the samples of other languages are never drawn.
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

  function search() {
    const field = document.querySelector("#search");
    const list = document.querySelector("#results");
    let sections = null;
    // Read when somebody searches for the first time.
    const read = () => [...document.querySelectorAll("[data-title]")].map((element) => {
      const text = element.textContent.replace(/\s+/g, " ");
      return { id: element.id, title: element.dataset.title, text, lower: text.toLowerCase() };
    });
    const rank = (section, words) => {
      const title = section.title.toLowerCase();
      if (words.every((word) => title.includes(word))) return 2;
      return words.every((word) => section.lower.includes(word)) ? 1 : 0;
    };
    const result = (section, words) => {
      const item = document.createElement("li");
      const link = Object.assign(document.createElement("a"), { href: `#${section.id}` });
      const at = Math.max(0, section.lower.indexOf(words[0]) - 30);
      const excerpt = document.createElement("small");
      excerpt.textContent = section.text.slice(at, at + 90);
      link.append(section.title, excerpt);
      item.append(link);
      return item;
    };
    const close = () => { list.hidden = true; };
    field.addEventListener("input", () => {
      sections ||= read();
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = words.length ? sections.map((section) => [rank(section, words), section]).filter(([score]) => score) : [];
      found.sort(([one], [other]) => other - one);
      list.replaceChildren(...found.slice(0, MAX_RESULTS).map(([, section]) => result(section, words)));
      if (words.length && !found.length) list.append(Object.assign(document.createElement("li"), { textContent: "Nothing found." }));
      list.hidden = !words.length;
    });
    list.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
    document.addEventListener("click", (event) => { if (!event.target.closest(".search")) close(); });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.matches("input");
      if (event.key === "/" && !typing) { event.preventDefault(); field.focus(); field.select(); }
      if (event.key === "Escape") { close(); field.blur(); }
      if (!event.target.closest(".search") || list.hidden) return;
      const links = [...list.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      if (event.key === "Enter" && typing && links[0]) links[0].click();
      if (event.key === "ArrowDown") { event.preventDefault(); links[Math.min(at + 1, links.length - 1)]?.focus(); }
      if (event.key === "ArrowUp") { event.preventDefault(); (at > 0 ? links[at - 1] : field).focus(); }
    });
  }

  function followReader() {
    const links = new Map([...document.querySelectorAll("nav a[href^='#']")].map((link) => [link.hash.slice(1), link]));
    const mark = (id) => {
      document.querySelector("nav a[aria-current]")?.removeAttribute("aria-current");
      const link = links.get(id);
      link.setAttribute("aria-current", "true");
      const nav = document.querySelector("nav");
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

  document.addEventListener("DOMContentLoaded", () => { closeAnswers(); chooseLanguages(); copySamples(); search(); followReader(); });
})();

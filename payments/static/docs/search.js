// The guides and the reference: one search over both, a copy of each block of code, and the part that is read. All of
// the page is there without it.
(() => {
  const MAX_RESULTS = 12;
  const LANGUAGES = { bash: "Shell", console: "Shell", json: "JSON", js: "JavaScript", mjs: "JavaScript", ts: "TypeScript", html: "HTML", css: "CSS", sql: "SQL", php: "PHP", ini: "Settings", nginx: "nginx", yaml: "YAML" };
  const make = (name, members) => Object.assign(document.createElement(name), members);

  function search() {
    const field = document.querySelector("#search");
    const list = document.querySelector("#results");
    let reading = null;
    // Read when somebody searches for the first time.
    const read = () => {
      reading ||= fetch("/docs/search.json").then((answer) => answer.json()).then((entries) => entries.map(
        ([address, title, where, beginning, words]) => ({ address, title, where, beginning, name: title.toLowerCase(), of: where.toLowerCase(), words }),
      ));
      reading.catch(() => { reading = null; });
      return reading;
    };
    const rank = ({ name, of, words }, asked) => {
      if (asked.every((word) => name.includes(word))) return 3;
      if (asked.every((word) => name.includes(word) || of.includes(word))) return 2;
      return asked.every((word) => name.includes(word) || of.includes(word) || words.includes(word)) ? 1 : 0;
    };
    const result = ({ address, title, where, beginning }) => {
      const link = make("a", { href: address });
      link.append(title, make("small", { textContent: `${where}: ${beginning}` }));
      const item = make("li");
      item.append(link);
      return item;
    };
    const close = () => { list.hidden = true; };
    async function show() {
      const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (!asked.length) return close();
      const before = field.value;
      const entries = await read().catch(() => null);
      // An answer to what is not asked any more is not shown.
      if (field.value !== before) return;
      const found = (entries || []).map((entry) => [rank(entry, asked), entry]).filter(([score]) => score);
      found.sort(([one], [other]) => other - one);
      list.replaceChildren(...found.slice(0, MAX_RESULTS).map(([, entry]) => result(entry)));
      const nothing = entries ? "Nothing found." : "The search could not be read. Check the connection and type again.";
      if (!found.length) list.append(make("li", { textContent: nothing }));
      list.hidden = false;
    }
    field.addEventListener("input", show);
    // Who is quick has typed before this runs.
    if (document.activeElement === field) show();
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

  function copyBlocks() {
    if (!navigator.clipboard) return;
    for (const block of document.querySelectorAll("main > pre")) {
      const code = block.querySelector("code");
      const language = /language-(\w+)/.exec(code.className)?.[1] ?? "";
      const button = make("button", { type: "button", className: "copy", textContent: "Copy" });
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
      const head = make("div", { className: "block-head" });
      head.append(make("span", { textContent: LANGUAGES[language] ?? language }), button);
      const frame = make("div", { className: "block" });
      block.replaceWith(frame);
      frame.append(head, block);
    }
  }

  function followReader() {
    const links = new Map([...document.querySelectorAll("#here a")].map((link) => [link.hash.slice(1), link]));
    const observer = new IntersectionObserver((entries) => {
      const entered = entries.filter((entry) => entry.isIntersecting).at(-1);
      if (!entered) return;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entered.target.id).setAttribute("aria-current", "true");
    }, { rootMargin: "-10% 0px -75% 0px" });
    for (const anchor of links.keys()) observer.observe(document.getElementById(anchor));
  }

  search();
  copyBlocks();
  followReader();
})();

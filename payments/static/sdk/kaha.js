// Card fields in frames of kaha's origin: no card number ever touches the page that loads this.
(() => {
  "use strict"
  const FIELDS = ["cardNumber", "cardExpiry", "cardCvc"]
  const EVENTS = { FIELD_CHANGE: "change", FIELD_FOCUS: "focus", FIELD_BLUR: "blur" }
  const LONGEST_LOAD = 10000
  const LONGEST_ANSWER = 45000
  const script = document.currentScript
  const dark = matchMedia("(prefers-color-scheme: dark)")

  const failure = (message, debug) => Object.assign(new Error(message), debug && { code: debug.code, debug })

  function addressOf(given) {
    const url = new URL(given || "/", given ? location.href : (script && script.src) || location.href)
    if (!url.pathname.endsWith(".html")) {
      url.pathname = `${url.pathname === "/" ? "/components" : url.pathname.replace(/\/$/, "")}/index.html`
    }
    return url
  }

  class Field {
    constructor(form, name, { style } = {}) {
      this.form = form
      this.name = name
      this.style = style
      this.handlers = { change: [], focus: [], blur: [] }
    }

    on(event, handler) {
      if (!this.handlers[event]) throw failure(`There is no event ${event}; there are ${Object.keys(this.handlers).join(", ")}.`)
      this.handlers[event].push(handler)
      return this
    }

    // Marks the element around the frame for the page's own CSS, and calls the page.
    happen(event, state) {
      const marks = event === "change"
        ? { "kaha-complete": state.complete, "kaha-empty": state.empty, "kaha-invalid": Boolean(state.error) }
        : { "kaha-focus": event === "focus" }
      for (const [name, holds] of Object.entries(marks)) this.frame.parentElement?.classList.toggle(name, holds)
      for (const handler of this.handlers[event]) handler(state)
    }

    mount(at) {
      const place = typeof at === "string" ? document.querySelector(at) : at
      if (!place) throw failure(`There is no element ${at} on this page to mount ${this.name} in.`)
      this.unmount()
      this.form.fields[this.name] = this
      this.loaded = new Promise(resolve => { this.resolve = resolve })
      const frame = this.frame = document.createElement("iframe")
      frame.src = this.form.srcOf(this.name)
      frame.title = this.name
      Object.assign(frame.style, { display: "block", width: "100%", height: "100%", minHeight: "1.5em", border: "0" })
      frame.addEventListener("load", () => {
        this.send({ type: "INIT", apiKey: this.form.key, parentOrigin: location.origin })
      })
      place.append(frame)
      return this
    }

    unmount() {
      if (this.frame) this.frame.remove()
      this.frame = null
      delete this.form.fields[this.name]
    }

    update({ style } = {}) {
      if (style) this.style = style
      this.restyle()
      return this
    }

    focus() {
      if (!this.frame) return
      this.frame.focus()
      this.send({ type: "CMD_FOCUS" })
    }

    createSource(data) {
      return this.form.createSource(this, data)
    }

    // The page decides between light and dark; a frame of the other scheme would get a ground of its own.
    restyle() {
      if (!this.frame) return
      const schemes = getComputedStyle(this.frame.parentElement || document.body).colorScheme
      const scheme = schemes.includes("dark") && (dark.matches || !schemes.includes("light")) ? "dark" : "light"
      this.frame.style.colorScheme = scheme
      this.send({ type: "UPDATE_STYLE", style: this.style, scheme })
    }

    send(message) {
      if (this.frame && this.frame.contentWindow) this.frame.contentWindow.postMessage(message, this.form.origin)
    }
  }

  class Elements {
    constructor(key, url) {
      this.key = key
      this.url = url
      this.origin = url.origin
      this.id = Array.from(crypto.getRandomValues(new Uint8Array(8)), byte => byte.toString(16).padStart(2, "0")).join("")
      this.fields = {}
      this.pending = null
      addEventListener("message", event => this.receive(event))
      dark.addEventListener("change", () => Object.values(this.fields).forEach(field => field.restyle()))
    }

    create(name, options) {
      if (!FIELDS.includes(name)) throw failure(`There is no field ${name}; there are ${FIELDS.join(", ")}.`)
      if (this.fields[name]) throw failure(`This form has a field ${name}. Call elements() once for each form.`)
      return this.fields[name] = new Field(this, name, options)
    }

    srcOf(name) {
      const url = new URL(this.url)
      url.searchParams.set("key", this.key)
      url.searchParams.set("field", name)
      if (document.documentElement.lang) url.searchParams.set("lang", document.documentElement.lang.split("-")[0])
      url.hash = this.id
      return url.href
    }

    // While one source is made, a second call is the same: a double click makes one.
    createSource(field, data) {
      if (!this.pending) {
        const forget = () => { this.pending = null }
        this.pending = this.ask(field, data)
        this.pending.then(forget, forget)
      }
      return this.pending
    }

    async ask(field, data) {
      if (!field.frame) throw failure(`Mount ${field.name} first.`)
      await this.loaded()
      return new Promise((resolve, reject) => {
        const id = `${Math.random()}`
        const timer = setTimeout(
          () => this.settle && this.settle({ id, error: "No answer came. Try again.", debug: { code: "not_sent" } }), LONGEST_ANSWER,
        )
        this.settle = answer => {
          if (answer.id !== id) return
          clearTimeout(timer)
          this.settle = null
          if (answer.source) resolve(answer.source)
          else reject(failure(answer.error, answer.debug))
        }
        try {
          field.send({ type: "CREATE_SOURCE", id, additionalData: data })
        } catch {
          this.settle({ id, error: "The data of a source holds something else than plain values." })
        }
      })
    }

    loaded() {
      const all = Promise.all(Object.values(this.fields).map(each => each.loaded))
      const message = "The card fields did not load. Is this page's origin one of the key's?"
      const tooLate = new Promise((_, reject) => {
        setTimeout(() => reject(failure(message, { code: "frame_not_loaded" })), LONGEST_LOAD)
      })
      return Promise.race([all, tooLate])
    }

    receive({ origin, source, data }) {
      if (origin !== this.origin || !data) return
      const field = Object.values(this.fields).find(each => each.frame && each.frame.contentWindow === source)
      if (!field) return
      if (data.type === "READY") {
        field.frame.title = data.label
        field.restyle()
        field.resolve()
      } else if (data.type === "FIELD_COMPLETE") {
        const next = this.fields[FIELDS[FIELDS.indexOf(field.name) + 1]]
        if (next && next.frame && document.activeElement === field.frame) next.focus()
      } else if (EVENTS[data.type]) {
        const { type, ...state } = data
        field.happen(EVENTS[type], state)
      } else if ((data.type === "SOURCE_CREATED" || data.type === "SOURCE_ERROR") && this.settle) {
        this.settle(data)
      }
    }
  }

  class Kaha {
    constructor(key, { componentsUrl } = {}) {
      if (!/^pk_/.test(key)) throw failure("A page needs the publishable key, pk_…. No other key may be in a page.")
      this.key = key
      this.url = addressOf(componentsUrl)
    }

    elements() {
      return new Elements(this.key, this.url)
    }
  }

  window.Kaha = window.Magpie = Kaha
})()

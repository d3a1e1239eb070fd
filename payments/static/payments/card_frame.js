// One field of a card, in a frame of ours on a shop's page. The page learns whether it is complete and which brand the
// number is of, and no other digit of it.
import { cvcOf, digitsOf, expiryOf, groupExpiry, groupNumber, isOver, LEAST_DIGITS, numberOf, schemeOf } from "./card_fields.js"

const NAMES = ["cardNumber", "cardExpiry", "cardCvc"]
const STYLES = { fontFamily: "font-family", fontSize: "font-size", fontWeight: "font-weight" }
const LONGEST_WAIT = 30_000
const READ = { cardNumber: numberOf, cardExpiry: expiryOf, cardCvc: cvcOf }
const { field, missing, short, unlike, key: apiKey } = document.body.dataset
const input = document.querySelector("input")
// The origin of the shop's page, once it has said who it is. Nobody else is answered or obeyed.
let shop = null
let isComplete = false
// The page moves the cursor to the next field once it learns that this one is complete: when no key is down any more.
// A key that is released while the cursor moves may be released in the page, which would learn the digit.
const held = new Set()
let isUnsaid = false
let error = ""
let known = ""

const value = () => READ[field](input.value)
const isFull = () => field === "cardNumber" && digitsOf(input.value).length >= LEAST_DIGITS
const say = (type, members) => { if (shop) parent.postMessage({ type, ...members }, shop) }

// Frames of one form find each other by this: only pages of our own origin can read it.
window.kahaField = {
  field, value, faultOf, form: location.hash,
  refuse() {
    mark(faultOf())
    announce()
    input.focus()
  },
}

// Returns what is wrong with the value, as the page of a checkout says it; "" where it can be a card's.
function faultOf() {
  if (!input.value) return missing
  const read = value()
  if (!read) return isFull() ? unlike : short
  return field === "cardExpiry" && isOver(read) ? unlike : ""
}

function mark(fault) {
  error = fault
  if (error) input.setAttribute("aria-invalid", "true")
  else input.removeAttribute("aria-invalid")
}

function ofForm() {
  const found = {}
  for (let at = 0; at < parent.length; at++) {
    try {
      const other = parent[at].kahaField
      if (other?.form === location.hash) found[other.field] ??= other
    } catch {
      // It is a frame of another origin.
    }
  }
  return found
}

function note() {
  // Who is still writing is not wrong, but for a number that has all of its digits.
  mark(isFull() ? faultOf() : "")
  const brand = document.getElementById("brand")
  if (brand) brand.textContent = schemeOf(input.value)
  const read = value()
  const wasComplete = isComplete
  // Who writes the year with four digits has not ended with "20".
  isComplete = Boolean(read) && !(field === "cardExpiry" && isOver(read))
  isUnsaid = isComplete && (isUnsaid || !wasComplete)
  announce()
  if (!input.value) say("FIELD_EMPTY", { field })
}

function announce() {
  if (held.size) return
  const state = { field, complete: isComplete, empty: !input.value, error, ...field === "cardNumber" && { brand: schemeOf(input.value) } }
  if (known !== JSON.stringify(state)) say("FIELD_CHANGE", state)
  known = JSON.stringify(state)
  if (!isUnsaid) return
  isUnsaid = false
  say("FIELD_COMPLETE", { field })
}

function release({ code, key }) {
  // While Meta is down, macOS does not say that other keys are released.
  if (key === "Meta") held.clear()
  held.delete(code)
  announce()
}

function bodyOf(fields, given) {
  const { name, redirect, owner, metadata } = given
  const address = Object.entries(given).filter(([member]) => member.startsWith("address_"))
  const { month, year } = fields.cardExpiry.value()
  const card = { ...Object.fromEntries(address), name, number: fields.cardNumber.value(), exp_month: month, exp_year: year }
  return JSON.stringify({ type: "card", card: { ...card, cvc: fields.cardCvc.value() }, redirect, owner, metadata })
}

async function create(fields, given) {
  const answer = await fetch("/api/v2/sources", {
    method: "POST", credentials: "omit", cache: "no-store", body: bodyOf(fields, given),
    headers: { "Authorization": `Bearer ${apiKey}`, "Content-Type": "application/json" },
    signal: AbortSignal.timeout(LONGEST_WAIT),
  })
  const read = await answer.json()
  if (answer.ok) return { source: read }
  const { message, code, request_id, errors } = read.error
  const first = errors && Object.entries(errors)[0]
  return { error: first ? `${first[0]}: ${first[1][0]}` : message, debug: { code, status: answer.status, request_id, errors } }
}

async function createSource({ id, additionalData }) {
  const fields = ofForm()
  const missing = NAMES.find(name => !fields[name])
  const bad = NAMES.find(name => !fields[name]?.value())
  let made
  if (missing) {
    made = { error: `The page has no field ${missing}. Mount all three.`, debug: { code: "field_missing", field: missing } }
  } else if (bad) {
    fields[bad].refuse()
    made = { error: fields[bad].faultOf(), debug: { code: "field_incomplete", field: bad } }
  } else {
    made = await create(fields, additionalData ?? {}).catch(fault => ({
      error: "The card could not be sent. Check the connection and try again.", debug: { code: "not_sent", reason: fault.name },
    }))
  }
  say(made.source ? "SOURCE_CREATED" : "SOURCE_ERROR", { id, ...made })
}

// Takes no value that could load something, or read something of this page.
function restyle({ style, scheme }) {
  const base = style?.base ?? {}
  const isPlain = (property, text) => (
    ["string", "number"].includes(typeof text) && CSS.supports(property, text) && !/(url|var|attr|env|image)\(/i.test(text)
  )
  for (const [name, property] of Object.entries(STYLES)) {
    if (isPlain(property, base[name])) input.style.setProperty(property, base[name])
  }
  const root = document.documentElement.style
  const colors = { "--text": base.color, "--placeholder": base["::placeholder"]?.color, "--invalid": style?.invalid?.color }
  for (const [name, color] of Object.entries(colors)) {
    if (isPlain("color", color)) root.setProperty(name, color)
  }
  if (["light", "dark"].includes(scheme)) root.colorScheme = scheme
}

const ORDERS = new Map([
  ["CREATE_SOURCE", createSource],
  ["UPDATE_STYLE", restyle],
  ["CMD_FOCUS", () => input.focus()],
])

addEventListener("message", ({ source, origin, data }) => {
  if (parent === window || source !== parent) return
  if (data?.type === "INIT") {
    if (shop || data.apiKey !== apiKey || data.parentOrigin !== origin || !/^https?:/.test(origin)) return
    shop = origin
    say("READY", { field, label: document.title })
  } else if (shop && origin === shop) {
    ORDERS.get(data?.type)?.(data)
  }
})

if (field === "cardNumber") groupNumber(input)
if (field === "cardExpiry") groupExpiry(input)
if (field === "cardCvc") input.addEventListener("input", () => { input.value = digitsOf(input.value).slice(0, 4) })
input.addEventListener("input", note)
input.addEventListener("keydown", ({ code }) => held.add(code))
input.addEventListener("keyup", release)
input.addEventListener("focus", () => say("FIELD_FOCUS", { field }))
input.addEventListener("blur", () => {
  held.clear()
  mark(input.value ? faultOf() : "")
  announce()
  say("FIELD_BLUR", { field })
})

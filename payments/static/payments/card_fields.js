// The fields of a card, for the page of a checkout and for those in frames: digits in groups, and what is complete.
const SCHEMES = [["Visa", /^4/], ["Mastercard", /^(5[1-5]|2[2-7])/], ["JCB", /^35/], ["UnionPay", /^62/], ["Amex", /^3[47]/]]
export const LEAST_DIGITS = 16

export const digitsOf = text => text.replace(/[^0-9]/g, "")
export const schemeOf = text => SCHEMES.find(([, form]) => form.test(digitsOf(text)))?.[0] ?? ""

export function groupNumber(field) {
  field.addEventListener("input", () => {
    regroup(field, text => (digitsOf(text).slice(0, 19).match(/.{1,4}/g) || []).join(" "))
  })
}

export function groupExpiry(field) {
  let shorter = false
  field.addEventListener("beforeinput", event => { shorter = (event.inputType || "").startsWith("delete") })
  field.addEventListener("input", () => {
    if (!shorter) regroup(field, expiryText)
    shorter = false
  })
}

// Returns an expiry as this page writes it. A year may come first, and a month without its zero ends with a separator.
function expiryText(text) {
  const yearFirst = /^\D*20(\d\d)\D*(0?[1-9]|1[0-2])\D*$/.exec(text)
  if (yearFirst) return `${yearFirst[2].padStart(2, "0")} / ${yearFirst[1]}`
  const digits = digitsOf(text)
  const full = /^[2-9]/.test(digits) || /^\D*[1-9]\D/.test(text) ? `0${digits}` : digits
  return full.length < 2 ? full : `${full.slice(0, 2)} / ${full.slice(2, 6)}`
}

// Returns the digits of a number that can be a card's, or "".
export function numberOf(text) {
  const digits = digitsOf(text)
  const sum = [...digits].reverse().reduce((sum, digit, at) => sum + (at % 2 ? (digit * 2) % 9 || digit * 1 : +digit), 0)
  return digits.length >= LEAST_DIGITS && sum % 10 === 0 ? digits : ""
}

// Returns the month and the year of an expiry, or null.
export function expiryOf(text) {
  const found = /^(0[1-9]|1[0-2]) \/ (?:20)?([0-9]{2})$/.exec(expiryText(text))
  return found && { month: found[1], year: `20${found[2]}` }
}

export const isOver = ({ month, year }) => new Date(year, month) <= new Date()
export const cvcOf = text => /^[0-9]{3,4}$/.test(text.trim()) ? text.trim() : ""

function regroup(field, group) {
  const isAtEnd = field.selectionStart === field.value.length
  const before = digitsOf(field.value.slice(0, field.selectionStart)).length
  const text = group(field.value)
  if (text === field.value) return
  field.value = text
  let at = 0
  for (let seen = 0; at < text.length && seen < before; at++) if (/[0-9]/.test(text[at])) seen++
  at = isAtEnd ? text.length : at
  field.setSelectionRange(at, at)
}

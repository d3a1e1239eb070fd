// Groups the digits of a card, names its scheme and shows that a payment is under way. The page works without it.
const number = document.getElementById("f-number")
const expiry = document.getElementById("f-expiry")
const SCHEMES = [["Visa", /^4/], ["Mastercard", /^(5[1-5]|2[2-7])/], ["JCB", /^35/], ["UnionPay", /^62/], ["Amex", /^3[47]/]]

const digitsOf = text => text.replace(/[^0-9]/g, "")

function regroup(field, group) {
  const isAtEnd = field.selectionStart === field.value.length
  const before = digitsOf(field.value.slice(0, field.selectionStart)).length
  const text = group(digitsOf(field.value), field.value)
  if (text === field.value) return
  field.value = text
  let at = 0
  for (let seen = 0; at < text.length && seen < before; at++) if (/[0-9]/.test(text[at])) seen++
  at = isAtEnd ? text.length : at
  field.setSelectionRange(at, at)
}

function showScheme() {
  const digits = digitsOf(number.value)
  const scheme = SCHEMES.find(([, form]) => form.test(digits))
  const mark = document.getElementById("scheme")
  mark.textContent = scheme ? scheme[0] : ""
  mark.hidden = !scheme
}

if (number) {
  number.addEventListener("input", () => {
    regroup(number, digits => (digits.slice(0, 19).match(/.{1,4}/g) || []).join(" "))
    showScheme()
  })
  let shorter = false
  expiry.addEventListener("beforeinput", event => { shorter = (event.inputType || "").startsWith("delete") })
  expiry.addEventListener("input", () => {
    if (!shorter) regroup(expiry, digits => {
      const full = /^[2-9]/.test(digits) ? `0${digits}` : digits
      return full.length < 2 ? full : `${full.slice(0, 2)} / ${full.slice(2, 6)}`
    })
  })
}

const form = document.querySelector("form[data-busy]")
let isSent = false
form?.addEventListener("submit", event => {
  if (isSent) return event.preventDefault()
  isSent = true
  const button = form.querySelector(".pay-bar .button")
  button.dataset.words = button.lastElementChild.textContent
  button.lastElementChild.textContent = form.dataset.busy
  button.classList.add("busy")
  button.setAttribute("aria-disabled", "true")
})
// A browser that comes back may show the page as it was left.
addEventListener("pageshow", event => { if (event.persisted) location.reload() })

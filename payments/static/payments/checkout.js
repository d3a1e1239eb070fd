// Groups the digits of a card, names its scheme and shows that a payment is under way. The page works without it.
import { groupExpiry, groupNumber, schemeOf } from "./card_fields.js"

const STOPPED_MS = 15_000
const number = document.getElementById("f-number")

if (number) {
  groupNumber(number)
  groupExpiry(document.getElementById("f-expiry"))
  number.addEventListener("input", () => {
    const mark = document.getElementById("scheme")
    mark.textContent = schemeOf(number.value)
    mark.hidden = !mark.textContent
  })
}

const form = document.querySelector("form[data-busy]")
const button = form?.querySelector(".pay-bar .button")
const words = button?.lastElementChild.textContent
let isSent = false

function show(isBusy) {
  isSent = isBusy
  button.lastElementChild.textContent = isBusy ? form.dataset.busy : words
  button.classList.toggle("busy", isBusy)
  if (isBusy) button.setAttribute("aria-disabled", "true")
  else button.removeAttribute("aria-disabled")
}

form?.addEventListener("submit", event => {
  if (isSent) return event.preventDefault()
  show(true)
  // Who has stopped the page may press again: it is paid once all the same.
  setTimeout(show, STOPPED_MS, false)
})
document.addEventListener("visibilitychange", () => { if (form && document.visibilityState === "visible") show(false) })
// A browser that comes back may show the page as it was left.
addEventListener("pageshow", event => { if (event.persisted) location.reload() })

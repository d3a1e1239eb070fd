// Groups the digits of a card, names its scheme and shows that a payment is under way. The page works without it.
import { groupExpiry, groupNumber, schemeOf } from "./card_fields.js"

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

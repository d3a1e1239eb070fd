"""The payer's side of a checkout: open the page, choose a way, pay, or come back and choose another."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from customers.domain import checkout as customers
from payments import clock
from payments.db.writes import StaleRow, Update, execute_writes
from payments.domain import prepared_reads
from payments.domain.bulkheads import ProviderBusy
from payments.domain.charging import attempts, charges, recovery
from payments.domain.charging.charges import ChargeOrder
from payments.domain.charging.checkouts import checkout_progress
from payments.domain.charging.checkouts.checkout_progress import CheckoutAttempt
from payments.domain.checkout import card_checks
from payments.domain.shared.caller import Caller, RequestFacts
from payments.domain.shared.errors import PaymentError, conflict
from payments.ids import parse_id
from payments.models import Charge, Checkout, Source
from payments.rendering.objects.checkout import payment_url

DESCRIPTION_MAX_LENGTH = 255
CONTACT = ("email", "name", "phone")
Mode, State = Checkout.Mode, Checkout.State
# The kinds of checkouts that have a page of their own, by the prefix of the ID in its address.
PAGES = {"cs": (Checkout.Kind.SESSION, Checkout.Kind.LINK), "pr": (Checkout.Kind.REQUEST,)}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a payer chose: the source `type`, the `card` as typed, its `owner`, and what else the page asked for.

    `attempt` is the number of attempts when the form was shown: a form that is sent twice pays once.
    """

    type: str
    attempt: int
    card: dict[str, Any] | None = None
    owner: dict[str, Any] | None = None
    payer: dict[str, Any] = field(default_factory=dict)


def checkout_of_page(text: str, *, with_charge: bool = True) -> Checkout | None:
    """Return the checkout whose page this public ID names, with its merchant and charge; None without one.

    It is a session, a payment of a link, or a request.
    """
    prefix = text.partition("_")[0]
    kinds, uuid = PAGES.get(prefix, ()), parse_id(prefix, text)
    checkout = prepared_reads.checkout.first(checkout_id=uuid) if uuid else None
    if checkout is None or checkout.kind not in kinds:
        return None
    own = {"merchant_id": checkout.merchant_id, "checkout_id": checkout.id}
    # All charges of one that is unpaid have failed.
    may_have_one = with_charge and checkout.attempts and checkout.state != State.UNPAID
    checkout.charge_list = prepared_reads.charges_of_checkout(**own) if may_have_one else []
    return checkout


def pay(checkout: Checkout, choice: Choice, address: str) -> Charge:
    """Charge the payer of `checkout`, whose request came from `address`; return the charge as it is then.

    Raise PaymentError where it cannot be paid, or its card not kept, after too many declines, and where no provider can
    be asked;
    VaultUnavailable, with nothing written, where a card cannot be encrypted.
    """
    caller = payer_caller(checkout, address)
    attempt = CheckoutAttempt(checkout, choice.attempt, checkout.payer | choice.payer)
    keep_for = _customer_of(caller, attempt) if checkout.mode == Mode.SUBSCRIPTION else None
    order = ChargeOrder(
        amount=checkout.amount,
        currency=checkout.currency,
        source=_source_order(checkout, choice),
        description=description_of(checkout),
        capture=checkout.mode != Mode.SETUP,
        require_auth=checkout.order.get("require_auth", True),
        metadata=checkout.order.get("metadata"),
        checkout=attempt,
        keep_for=keep_for,
    )
    return charges.create(caller, order).row


def save_card(checkout: Checkout, choice: Choice, address: str) -> None:
    """Have the payer's card checked, and keep it for the customer of a checkout in mode `save_card`; charge nothing.

    Raise what `card_checks.check` raises.
    """
    caller = payer_caller(checkout, address)
    attempt = CheckoutAttempt(checkout, choice.attempt, checkout.payer | choice.payer)
    checkout.customer_id = _customer_of(caller, attempt)
    card_checks.check(caller, checkout, _source_order(checkout, choice), attempt)


def come_back(checkout: Checkout, params: dict[str, str], address: str) -> None:
    """Find out about the check whose payer came back from the issuer's page; `params` are those of the return."""
    card_checks.continue_check(payer_caller(checkout, address), checkout, params)


def can_keep_card(checkout: Checkout) -> bool:
    """Return whether a checkout keeps no card, or has a customer with room for it, or will have a new one."""
    if checkout.customer_id is None or checkout.mode not in (Mode.SUBSCRIPTION, Mode.SAVE_CARD):
        return True
    return customers.has_room(Caller(checkout.merchant_id, checkout.livemode), checkout.customer_id)


def _customer_of(caller: Caller, attempt: CheckoutAttempt) -> UUID:
    """Return the customer for whom the card is kept; where there is none, one is made of what the payer gave.

    Raise PaymentError where the checkout cannot be paid, or the customer is deleted or takes no more cards.
    """
    checkout_progress.require_payable(attempt)
    checkout = attempt.checkout
    if not can_keep_card(checkout):
        raise conflict("card_not_keepable", "The customer was deleted, or no more cards can be kept for it.")
    if checkout.customer_id:
        return checkout.customer_id
    given = {name: attempt.payer.get(name) or checkout.order.get(f"customer_{name}") or "" for name in CONTACT}
    customer_id, made = customers.new(caller, *(given[name] for name in CONTACT))
    without = {"id": checkout.id, "merchant_id": checkout.merchant_id, "customer_id": None, "state": State.UNPAID}
    try:
        execute_writes(Update(Checkout, without, {"customer_id": customer_id}), *made)
    except StaleRow:
        raise checkout_progress.not_payable() from None
    checkout.customer_id = customer_id
    return customer_id


def payer_caller(checkout: Checkout, address: str) -> Caller:
    """Return the merchant of a checkout as the caller, on behalf of a payer at `address`."""
    request = RequestFacts(address=address)
    return Caller(checkout.merchant_id, checkout.livemode, request=request, merchant=checkout.merchant)


def _source_order(checkout: Checkout, choice: Choice) -> dict[str, Any]:
    page = payment_url(checkout)
    order: dict[str, Any] = {"type": choice.type, "redirect": {"success": f"{page}/done", "fail": page}}
    return order | {name: value for name in ("card", "owner") if (value := getattr(choice, name))}


def description_of(checkout: Checkout) -> str:
    """Return the description of the charge: the order's, else the names of its items."""
    names = ", ".join(item["name"] for item in checkout.order.get("line_items") or [])
    return str(checkout.order.get("description") or names)[:DESCRIPTION_MAX_LENGTH]


def has_begun(checkout: Checkout, attempt: int) -> bool:
    """Return whether a payer's attempt of this number has begun, or the checkout is another's or over by now."""
    return not Checkout.objects.filter(id=checkout.id, state=State.UNPAID, attempts=attempt).exists()


def waiting_charge(checkout: Checkout) -> Charge | None:
    """Return the charge of a checkout read by `whole()` whose outcome is open, None without one."""
    return next((charge for charge in checkout.charge_list if charge.status == Charge.Status.PENDING), None)


def last_charge(checkout: Checkout) -> Charge | None:
    """Return the charge of a checkout, whole, or the newest one that failed; None before the first attempt."""
    if checkout.charge_list:
        return checkout.charge_list[0]
    rows = Charge.objects.whole().filter(checkout_id=checkout.id, merchant_id=checkout.merchant_id)
    return rows.order_by("-id").first()


def last_failure(checkout: Checkout) -> tuple[str, Source] | None:
    """Return why the last attempt failed, as `failure_data` says it, and its source; None where none failed."""
    if checkout.check_code:
        return checkout.check_code, card_checks.checked_source(checkout)
    charge = last_charge(checkout)
    if charge is None or charge.status != Charge.Status.FAILED:
        return None
    return (charge.failure_data or {}).get("code", ""), charge.source


def give_up(checkout: Checkout) -> bool:
    """Cancel the payment, or the check, whose payer came back to choose otherwise; return whether another may begin.

    It is cancelled at the provider first, as one whose time is over: a payer who pays late is in time or gets the money
    back. While the outcome is unknown, nothing else may begin.
    """
    card_checks.give_up(checkout)
    charge = waiting_charge(checkout)
    if charge is not None and charge.action is not None:
        now = clock.now()
        unchanged = {"id": charge.id, "merchant_id": charge.merchant_id, "version": charge.version}
        with suppress(StaleRow, ProviderBusy, PaymentError):
            execute_writes(Update(Charge, unchanged, {"action_expires_at": now}))
            recovery.resolve(attempts.authorizing_attempt(charge), "payer_cancelled")
    return Checkout.objects.filter(id=checkout.id, state=Checkout.State.UNPAID).exists()

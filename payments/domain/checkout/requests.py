"""Payment requests: invoices to customers, who get a message and pay on a page of ours."""

from collections.abc import Callable
from datetime import timedelta
from math import ceil
from typing import Any

from django.db import transaction

from customers.domain import checkout as customers
from customers.domain.checkout import KnownCustomer
from payments import clock
from payments.db.writes import Insert, StaleRow, Update, execute_writes
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue import error_table as errors
from payments.domain.catalogue.event_types import REQUEST_CREATED, REQUEST_UPDATED
from payments.domain.catalogue.refusal_texts import said
from payments.domain.charging.checkouts import checkout_progress, tries
from payments.domain.checkout import availability, collect
from payments.domain.messages.invoices import INVOICE, REMINDER, REMINDERS, invoices_of, reminded
from payments.domain.shared import events, idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.checkout_changes import change, change_request
from payments.domain.shared.errors import PaymentError, conflict, merchant_closed, rate_limited
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.models import Checkout, Merchant, PaymentRequest
from payments.models.checkout.payment_request import RESENDS_MAX
from payments.rendering.objects.checkout import total_of
from payments.sweeps.in_turn import each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope

OK = 200
SERIES_LENGTH, REASON_MAX_LENGTH = 8, 255
RESEND_PAUSE = timedelta(minutes=1)
AFTER_TRY = timedelta(hours=1)
State, Ended = Checkout.State, PaymentRequest.Ended
Render = Callable[[Checkout], StoredAnswer]


@transaction.atomic
def create(caller: Caller, merchant: Merchant, order: dict[str, Any], render: Render) -> Result[Checkout]:
    """Create a request of `merchant` from a validated request body. `render` makes the answer that is stored with it.

    The customer is locked, so that its requests are counted one after the other. Raise PaymentError `resource_missing`
    for another's customer, `source_type_unavailable` where a way to pay is switched off, or no provider takes it, and
    `not_available` for an order that none can take.
    """
    customer = customers.lock(caller, order["customer"])
    collected = collect.asked(caller, customer.id, order)
    availability.require_types(caller, order["payment_method_types"])
    checkout = new_request(caller, merchant, customer, order)
    whole = (checkout.amount, checkout.amount)
    availability.require_taken(caller, order["payment_method_types"], checkout.currency, whole)
    remind_at = checkout.created_at + REMINDERS[0]
    number = _next_number(caller, customer)
    request = PaymentRequest(
        checkout=checkout, merchant=merchant, livemode=caller.livemode, remind_at=remind_at, **number, **collected
    )
    answer = render(checkout)
    created = events.of(caller, REQUEST_CREATED, checkout)
    sent = invoices_of(checkout, INVOICE, checkout.version)
    idempotency.write_once(
        caller, idempotency.new_record(caller, answer), Insert(checkout), Insert(request), *created, *sent
    )
    return Result(checkout, answer)


def new_request(caller: Caller, merchant: Merchant, customer: KnownCustomer, order: dict[str, Any]) -> Checkout:
    """Return the checkout of the request that `create` saves, still without its number."""
    moment = clock.now()
    # The invoice keeps whom it was made for: a customer may change, or be deleted.
    known = {f"customer_{name}": getattr(customer, name) for name in ("email", "name", "phone")}
    asked = {name: value for name, value in order.items() if name not in ("customer", "source", "collect")}
    checkout = Checkout(
        kind=Checkout.Kind.REQUEST,
        merchant=merchant,
        livemode=caller.livemode,
        amount=total_of(order["line_items"]),
        currency=order["currency"].upper(),
        order=asked | known | ({"locale": customer.locale} if customer.locale else {}),
        customer_id=customer.id,
        created_at=moment,
        updated_at=moment,
    )
    checkout.charge_list = []
    return checkout


def _next_number(caller: Caller, customer: KnownCustomer) -> dict[str, Any]:
    series = customer.id.hex[-SERIES_LENGTH:].upper()
    made = PaymentRequest.objects.filter(merchant_id=caller.merchant_id, livemode=caller.livemode, series=series)
    made = made.order_by("-place")
    return {"series": series, "place": (made.values_list("place", flat=True).first() or 0) + 1}


find = collect.find


def void(caller: Caller, text: str, reason: str, render: Render) -> Result[Checkout]:
    """Void an open request for good.

    Raise PaymentError `request_busy` while the outcome of an attempt is open, `request_not_voidable` after its end.
    """
    checkout = find(caller, text)
    if checkout.state == State.PAYING:
        raise conflict(errors.REQUEST_BUSY)
    if checkout.state != State.UNPAID:
        raise conflict(errors.REQUEST_NOT_VOIDABLE, state=checkout.state)
    reasoned = change_request(checkout, void_reason=reason, **tries.ended(checkout.request, Ended.VOIDED))
    writes = checkout_progress.move(caller, checkout, State.VOIDED)
    answer = render(checkout)
    try:
        idempotency.write_once(caller, idempotency.new_record(caller, answer), reasoned, *writes)
    except StaleRow:
        return void(caller, text, reason, render)
    return Result(checkout, answer)


def resend(caller: Caller, text: str, render: Render) -> Result[Checkout]:
    """Send the message about an open request again.

    Raise PaymentError `request_not_open` after its end, `rate_limited` within a minute and after RESENDS_MAX times, and
    `merchant_not_active` where its merchant was closed.
    """
    checkout = find(caller, text)
    _require_resendable(checkout)
    counted = change_request(checkout, resends=checkout.request.resends + 1, resent_at=clock.now())
    writes = change(caller, checkout, REQUEST_UPDATED)
    sent = invoices_of(checkout, INVOICE, checkout.version)
    answer = render(checkout)
    try:
        idempotency.write_once(caller, idempotency.new_record(caller, answer), counted, *writes, *sent)
    except StaleRow:
        return resend(caller, text, render)
    return Result(checkout, answer)


@transaction.atomic
def void_for_operator(request: Checkout, reason: str) -> None:
    """Void a request for an operator, whose action is recorded. Raise PaymentError as `void` does."""
    caller = Caller(request.merchant_id, request.livemode)
    void(caller, str(request), reason[:REASON_MAX_LENGTH], lambda _: StoredAnswer(OK, b""))
    audit_log.record(Action.CANCELLED, request)


@transaction.atomic
def resend_for_operator(request: Checkout) -> None:
    """Send a request again for an operator, whose action is recorded. Raise PaymentError as `resend` does."""
    resend(Caller(request.merchant_id, request.livemode), str(request), lambda _: StoredAnswer(OK, b""))
    audit_log.record(Action.SENT_AGAIN, request)


def _require_resendable(checkout: Checkout) -> None:
    request = checkout.request
    if checkout.merchant.is_closed:
        raise merchant_closed()
    if not is_open(checkout):
        raise conflict(errors.REQUEST_NOT_OPEN, state=checkout.state)
    if request.resends >= RESENDS_MAX:
        message = said(
            "This request was sent again {count} times, which is the limit. Send its address yourself.",
            count=RESENDS_MAX,
        )
        raise PaymentError(errors.TOO_MANY, errors.RATE_LIMITED, message)
    left = request.resent_at + RESEND_PAUSE - clock.now() if request.resent_at else timedelta()
    if left > timedelta():
        raise rate_limited(ceil(left.total_seconds()))


def is_open(checkout: Checkout) -> bool:
    """Return whether a request is neither paid nor voided."""
    return checkout.state in (State.UNPAID, State.PAYING)


def remind_due(scope: Scope = ALL_MERCHANTS) -> int:
    """Remind customers of open requests, where their merchants have chosen it; return how many.

    A request that is not open any more, or whose merchant has not chosen it or was closed, only moves on to its next
    reminder.
    """
    due = PaymentRequest.objects.filter(scope.within("checkout__"), remind_at__lte=clock.now())
    return each_in_turn(due.select_related("checkout__merchant"), "remind_at", _remind)


def _remind(request: PaymentRequest) -> bool:
    checkout, now = request.checkout, clock.now()
    unchanged = {
        "checkout_id": checkout.id,
        "merchant_id": checkout.merchant_id,
        "reminders": request.reminders,
        "remind_at": request.remind_at,
    }
    if request.is_trying or (request.collect_at and request.collect_at < now + tries.SAME_DAY):
        # A declined try of the same day has a message in its place.
        until = max(request.collect_at or now, now) + AFTER_TRY
        execute_writes(Update(PaymentRequest, unchanged, {"remind_at": until}))
        return False
    values = reminded(request) | ({} if is_open(checkout) else {"remind_at": None})
    is_wanted = is_open(checkout) and checkout.merchant.send_receipts and not checkout.merchant.is_closed
    sent = invoices_of(checkout, REMINDER, values["reminders"]) if is_wanted else []
    execute_writes(Update(PaymentRequest, unchanged, values), *sent)
    return True

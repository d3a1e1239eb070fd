"""How a try to collect a payment request moves the request: in the statements that open and record its charge."""

from datetime import datetime, timedelta
from typing import Any

from payments import clock
from payments.db.writes import Write
from payments.domain.catalogue.event_types import REQUEST_UPDATED
from payments.domain.messages.invoices import failure_message, reminded
from payments.domain.messages.receipts import sends_receipts
from payments.domain.shared.caller import Caller
from payments.domain.shared.checkout_changes import change, change_request
from payments.models import Charge, Checkout, PaymentRequest
from payments.models.charging.charge import ABANDONED
from payments.providers.failure_data import NOT_REACHED
from payments.providers.failures.retry import Retry

Ended = PaymentRequest.Ended
# A reminder and a try so near each other are one message.
SAME_DAY = timedelta(days=1)
# When a try that did not reach its provider is made again, after the first such one of a day and the ones after it.
AGAIN = [timedelta(hours=hours) for hours in (1, 6, 16)]
NO_DECLINE = (*ABANDONED, NOT_REACHED)


def begun(caller: Caller, checkout: Checkout) -> list[Write]:
    """Return the writes by which a try begins: that of the checkout first, and the event that shows it.

    Of several at the same time, one matches the rows.
    """
    counted = change_request(checkout, collect_at=None, collect_tries=checkout.request.collect_tries + 1)
    state, attempts = Checkout.State.PAYING, checkout.attempts + 1
    return [*change(caller, checkout, REQUEST_UPDATED, state=state, attempts=attempts), counted]


def ended(request: PaymentRequest, why: Ended) -> dict[str, Any]:
    """Return the columns by which the collecting of a request ends; none where it does not collect any more."""
    return {"collect_at": None, "collect_ended": why} if request.is_collecting else {}


def is_try(charge: Charge, checkout: Checkout) -> bool:
    """Return whether a charge is a try to collect its checkout; any other is the payer's."""
    return checkout.kind == Checkout.Kind.REQUEST and charge.initiator == Charge.Initiator.MERCHANT


def recorded(caller: Caller, charge: Charge, checkout: Checkout) -> list[Write]:
    """Return the writes by which the outcome of a charge moves the collecting of its request, if it does.

    The payer gets a message about the first declined try, and about another in place of a reminder of the same day.
    """
    if checkout.kind != Checkout.Kind.REQUEST or not checkout.request.is_collecting:
        return []
    request = checkout.request
    if charge.status != Charge.Status.FAILED:
        return [change_request(checkout, **ended(request, Ended.PAID))]
    if not is_try(charge, checkout):
        return []
    before = _failed_tries(checkout) if request.collect_tries > 1 else []
    is_declined = was_declined(charge, checkout)
    is_reminder = is_declined and request.remind_at is not None and request.remind_at <= clock.now() + SAME_DAY
    is_first = all(code in NO_DECLINE for _, code in before)
    is_informed = is_first or (is_reminder and sends_receipts(caller))
    reminder = reminded(request) if is_reminder else {}
    moved = change_request(checkout, **_after_failure(request, charge, before), **reminder)
    return [moved, *(failure_message(checkout) if is_informed and is_declined else [])]


def was_declined(charge: Charge, checkout: Checkout) -> bool:
    """Return whether a charge failed by an answer, and not because its payer cancelled, or never came.

    A try that did not reach its provider has no answer; a payer reads that theirs did not.
    """
    no_decline = NO_DECLINE if is_try(charge, checkout) else ABANDONED
    return charge.status == Charge.Status.FAILED and (charge.failure_data or {}).get("code") not in no_decline


def _failed_tries(checkout: Checkout) -> list[tuple[datetime, str]]:
    """Return when each try that failed was made, and its code."""
    charges = Charge.objects.of(checkout.merchant_id, checkout.livemode).filter(checkout_id=checkout.pk)
    failed = charges.filter(initiator=Charge.Initiator.MERCHANT, status=Charge.Status.FAILED)
    return list(failed.values_list("created_at", "failure_data__code"))


def _after_failure(request: PaymentRequest, charge: Charge, before: list[tuple[datetime, str]]) -> dict[str, Any]:
    failure, now = charge.failure_data or {}, clock.now()
    # Where nobody came to the bank's page, the bank had wanted the payer.
    if failure.get("retry", Retry.LATER) != Retry.LATER or failure.get("code") in ABANDONED:
        return ended(request, Ended.ADVICE)
    days = [(request.collect_from or now) + timedelta(days=day) for day in request.collect_schedule or []]
    following = [day for day in days if day > now]
    if failure.get("code") == NOT_REACHED:
        lately = sum(code == NOT_REACHED and made_at > now - SAME_DAY for made_at, code in before)
        following = sorted([*following, *(now + pause for pause in AGAIN[lately : lately + 1])])
    if not following:
        return ended(request, Ended.EXHAUSTED)
    if hours := failure.get("retry_after_hours"):
        after = now + timedelta(hours=hours)
        return {"collect_at": max(following[0], after), "collect_after": after}
    return {"collect_at": following[0]}

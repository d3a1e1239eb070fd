"""Payment requests that collect themselves: on the days of a schedule, each charges the card that its customer keeps.

A try is an ordinary attempt to pay the checkout, made by the merchant without the payer. What it changes is in
`payments.domain.charging.checkouts.tries`, part of the statements that open and record its charge.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from payments import clock
from payments.db.writes import StaleRow, Update, Write, execute_writes
from payments.domain import sources
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.cards.card_data import EXPIRING_BEFORE, expiring_at
from payments.domain.catalogue import error_table as errors
from payments.domain.catalogue.event_types import REQUEST_UPDATED
from payments.domain.charging import charges
from payments.domain.charging.charges import ChargeOrder
from payments.domain.charging.checkouts.checkout_progress import CheckoutAttempt
from payments.domain.charging.checkouts.tries import ended
from payments.domain.charging.verbs import CAPTURE
from payments.domain.checkout import sessions
from payments.domain.checkout.payments import description_of
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller, IdempotencyKey, RequestFacts
from payments.domain.shared.checkout_changes import change, change_request
from payments.domain.shared.errors import PaymentError, conflict, invalid
from payments.domain.shared.idempotency import Replay, Result, StoredAnswer
from payments.ids import public_id
from payments.models import Card, Charge, Checkout, PaymentRequest, Source
from payments.providers.failure_data import NOT_REACHED
from payments.sourcetypes import CARD
from payments.sweeps.in_turn import Moment, each_in_turn
from payments.sweeps.scope import ALL_MERCHANTS, Scope

# Days after sending; the last one is no later than DAY_MAX.
SCHEDULE, DAY_MAX = (0, 3, 5, 7), 30
# What card networks allow: so many tries of one card in so long.
TRIES_MAX, WINDOW = 15, timedelta(days=30)
# When a try that could not be made is made instead, and when one that can never be made is given up.
PAUSE, LONGEST = timedelta(hours=1), timedelta(days=DAY_MAX + 1)
# A merchant's own key is printable, so it is never that of a try.
KEY = "collect\x1f{request}\x1f{number}"
Ended = PaymentRequest.Ended
State = Checkout.State
OK = 200
GIVEN_UP = {
    **dict.fromkeys((errors.RETRY_NOT_ALLOWED, errors.REFERENCE_MISSING), Ended.ADVICE),
    **dict.fromkeys((errors.RESOURCE_MISSING, errors.SOURCE_EXPIRED, errors.SOURCE_ALREADY_USED), Ended.SOURCE_GONE),
}
Render = Callable[[Checkout], StoredAnswer]
find = sessions.finder_of(Checkout.Kind.REQUEST)


def asked(caller: Caller, customer_id: UUID | None, order: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a request of this customer whose `order` names a `source` and how to `collect`, from now.

    Raise PaymentError `right_missing`, `resource_missing`, and `not_allowed` for a source that is no card, not kept for
    the customer with consent, or has expired.
    """
    if "source" not in order:
        return {}
    # It charges cards, as `POST /v2/charges/` does.
    caller.require_right(CAPTURE.right)
    source = sources.find(caller, order["source"], "source")
    if not _is_chargeable(source, customer_id):
        message = "This must be a card that is kept for the request's customer, with consent, and has not expired."
        raise invalid(errors.NOT_ALLOWED, "source", message)
    wanted, now = order.get("collect") or {}, clock.now()
    days = list(wanted.get("schedule") or SCHEDULE)
    return {
        "source_id": source.id,
        "collect_schedule": days,
        "collect_recurring": wanted.get("recurring", False),
        "collect_from": now,
        "collect_at": now + timedelta(days=days[0]),
        "collect_ended": "",
    }


def begin(caller: Caller, text: str, order: dict[str, Any], render: Render) -> Result[Checkout]:
    """Let an open request collect itself, by the `source` and `collect` of `order`, or as it did; count from now.

    Raise PaymentError `request_busy` while a try is under way, `request_not_open` after the end, `not_allowed`
    without a source, and as `asked` does.
    """

    def columns(checkout: Checkout) -> dict[str, Any]:
        request, before = checkout.request, {}
        if request.source_id is not None:
            collected = {"schedule": request.collect_schedule, "recurring": request.collect_recurring}
            before = {"source": public_id("src", request.source_id), "collect": collected}
        elif "source" not in order:
            raise invalid(errors.NOT_ALLOWED, "source", "Name a source: this request has none yet.")
        wanted = asked(caller, checkout.customer_id, before | order)
        # The network's advice is about the source.
        after = request.collect_after if wanted["source_id"] == request.source_id else None
        return wanted | {"collect_after": after, "collect_at": max(wanted["collect_at"], after or wanted["collect_at"])}

    return _change(caller, text, columns, render)


def stop(caller: Caller, text: str, render: Render) -> Result[Checkout]:
    """End the collecting of an open request; nothing changes where it has ended, or never began. Raise as `begin`."""
    return _change(caller, text, lambda checkout: ended(checkout.request, Ended.STOPPED), render)


def _change(
    caller: Caller, text: str, columns: Callable[[Checkout], dict[str, Any]], render: Render
) -> Result[Checkout]:
    checkout = find(caller, text)
    if checkout.state not in (State.UNPAID, State.PAYING):
        raise conflict(errors.REQUEST_NOT_OPEN, "This request is paid or voided.")
    if checkout.request.is_trying:
        raise conflict(errors.REQUEST_BUSY, "A try is under way. Try again when its outcome is known.")
    if not (values := columns(checkout)):
        idempotency.store_answer(caller, answer := render(checkout))
        return Result(checkout, answer)
    writes = _updated(caller, checkout, values)
    answer = render(checkout)
    try:
        idempotency.write_once(caller, idempotency.new_record(caller, answer), *writes)
    except StaleRow:
        return _change(caller, text, columns, render)
    return Result(checkout, answer)


def _updated(caller: Caller, checkout: Checkout, values: dict[str, Any]) -> list[Write]:
    return [change_request(checkout, **values), *change(caller, checkout, REQUEST_UPDATED)]


def can_try(checkout: Checkout) -> bool:
    """Return whether a request waits for its next try, and the card's network does not want it later."""
    request, now = checkout.request, clock.now()
    return request.collect_at is not None and checkout.state == State.UNPAID and (request.collect_after or now) <= now


@transaction.atomic
def try_now_for_operator(checkout: Checkout) -> None:
    """Let a worker make the next try at once, for an operator, whose action is recorded. Raise StaleRow."""
    _put_off(checkout.request, clock.now())
    audit_log.record(Action.CHANGED, checkout)


@transaction.atomic
def stop_for_operator(checkout: Checkout) -> None:
    """End the collecting for an operator, whose action is recorded. Raise PaymentError as `stop` does."""
    stop(Caller(checkout.merchant_id, checkout.livemode), str(checkout), lambda _: StoredAnswer(OK, b""))
    audit_log.record(Action.CANCELLED, checkout)


def collect_due(scope: Scope = ALL_MERCHANTS) -> int:
    """Make the tries that are due, those of merchants in turn; return how many were made."""
    due = PaymentRequest.objects.filter(scope.within("checkout__"), collect_at__lte=Moment())
    return each_in_turn(due.select_related("checkout__merchant"), "collect_at", _try)


def _try(request: PaymentRequest) -> bool:
    """Charge the kept card; put the try off, or give up, where it cannot be charged. Return whether it was."""
    checkout, now = request.checkout, clock.now()
    own = Source.objects.of(checkout.merchant_id, checkout.livemode).select_related("card")
    source = own.filter(id__in=[request.source_id]).first()
    if checkout.state != State.UNPAID:
        # Its payer is paying, or a process of the version before, which knows no collecting, has ended it.
        is_over = checkout.state != State.PAYING
        return _put_off(request, None, collect_ended=checkout.state) if is_over else _put_off(request, now + PAUSE)
    if source is None or not _is_chargeable(source, checkout.customer_id):
        return _give_up(checkout, Ended.SOURCE_GONE)
    # The payer keeps some of the attempts that a checkout has.
    if now > (request.collect_from or now) + LONGEST or checkout.attempts >= TRIES_MAX:
        return _give_up(checkout, Ended.EXHAUSTED)
    if free_at := _free_at(source):
        return _put_off(request, free_at)
    try:
        _charge(request, source)
    except Replay:
        # A lookup was faster than the answer.
        return True
    except PaymentError as refusal:
        if refusal.code in GIVEN_UP:
            return _give_up(checkout, GIVEN_UP[refusal.code])
        # Once it has begun, or where another process was faster, the row is as that has left it.
        return request.collect_at is not None and _put_off(request, now + PAUSE)
    return True


def _charge(request: PaymentRequest, source: Source) -> None:
    """Make a try, under a key that is made of the request and the number of the try. Raise as `charges.create` does."""
    checkout, number = request.checkout, request.collect_tries + 1
    key = IdempotencyKey(KEY.format(request=checkout, number=number), b"collect", is_own=True)
    facts = RequestFacts(idempotency=key)
    order = ChargeOrder(
        amount=checkout.amount,
        currency=checkout.currency,
        source=str(source),
        description=description_of(checkout),
        metadata=checkout.order.get("metadata"),
        initiator=Charge.Initiator.MERCHANT,
        schedule=Charge.Schedule.RECURRING if request.collect_recurring else Charge.Schedule.UNSCHEDULED,
        checkout=CheckoutAttempt(checkout, checkout.attempts, checkout.payer, is_try=True),
    )
    charges.create(Caller(checkout.merchant_id, checkout.livemode, request=facts, merchant=checkout.merchant), order)


def _is_chargeable(source: Source, customer_id: UUID | None) -> bool:
    """Return whether a source is a card that is kept for this customer, who agreed to it, and has not expired."""
    if source.type != CARD or not source.vaulted or source.customer_id != customer_id or not source.consent:
        return False
    announced = expiring_at(source.card)
    return announced is None or announced + EXPIRING_BEFORE > clock.now()


def _free_at(source: Source) -> datetime | None:
    """Return when the card of a source may be tried again, by what networks allow and advised at its newest tries.

    None is now, as in test mode: its clock moves no tries, its cards are everybody's. Networks count none not sent.
    """
    if not source.livemode:
        return None
    same, now = Card.objects.filter(merchant_id=source.merchant_id, fingerprint=source.card.fingerprint), clock.now()
    tries = Charge.objects.of(source.merchant_id, source.livemode).filter(
        source_id__in=same.values("source_id"),
        checkout__isnull=False,
        initiator=Charge.Initiator.MERCHANT,
        created_at__gt=now - WINDOW,
    )
    found = tries.order_by("-created_at").values_list("created_at", "updated_at", "failure_data")
    failures = [(at, ended, data or {"provider_response": {}}) for at, ended, data in found]
    newest = [each for each in failures if each[2]["provider_response"].get("code") != NOT_REACHED][:TRIES_MAX]
    free = [ended + timedelta(hours=failure.get("retry_after_hours", 0)) for _, ended, failure in newest]
    if len(newest) == TRIES_MAX:
        free.append(newest[-1][0] + WINDOW)
    latest = max(free, default=now)
    return latest if latest > now else None


def _put_off(request: PaymentRequest, until: datetime | None, **others: str) -> bool:
    """Let the next try be due at `until`, and set `others`; return False. Raise StaleRow where the request changed."""
    unchanged = {"checkout_id": request.pk, "merchant_id": request.merchant_id, "collect_at": request.collect_at}
    execute_writes(Update(PaymentRequest, unchanged, {"collect_at": until, **others}))
    return False


def _give_up(checkout: Checkout, why: Ended) -> bool:
    """End the collecting of a request; return False. Raise StaleRow where the checkout has changed."""
    caller = Caller(checkout.merchant_id, checkout.livemode, merchant=checkout.merchant)
    execute_writes(*_updated(caller, checkout, ended(checkout.request, why)))
    return False

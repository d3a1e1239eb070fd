"""Test clock: bring the deadlines of one merchant's test objects nearer, and run what is due then.

The past stays as it is: no `created_at` or other moment of the past is changed.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from payments import clock
from payments.db.writes import execute_writes
from payments.domain.approvals import decide
from payments.domain.charging import expiry, recovery
from payments.domain.checkout import card_checks, collect, links, requests, sessions
from payments.domain.disputes import respond
from payments.domain.payouts import make, send, states
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.domain.shared import idempotency
from payments.domain.shared.caller import Caller
from payments.domain.shared.idempotency import StoredAnswer
from payments.ledger import settlement
from payments.models import (
    ApprovalRequest,
    Attempt,
    Block,
    Card,
    Charge,
    Checkout,
    Dispute,
    Merchant,
    PaymentLink,
    PaymentRequest,
    Payout,
    PayoutPart,
    PayoutSchedule,
    Source,
    Webhook,
    WebhookEndpoint,
)
from payments.providers.simulator.connector import Simulator
from payments.sweeps.scope import Scope
from payments.webhooks import outbox

# One advance: a year, also a leap year.
LONGEST_SECONDS = 366 * 24 * 3600
# After this the worker does the rest, so that a request for very many objects is answered too.
GIVE_UP_AFTER_SECONDS = 30.0


@dataclass(frozen=True)
class ProcessedCounts:
    """How many of each kind were processed."""

    actions: int = 0
    events: int = 0
    lookups: int = 0
    holds: int = 0
    checkouts: int = 0
    tries: int = 0
    responses: int = 0
    settled: int = 0
    payouts: int = 0
    cvcs: int = 0
    numbers: int = 0
    requests: int = 0

    def __add__(self, other: "ProcessedCounts") -> "ProcessedCounts":
        return ProcessedCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def __bool__(self) -> bool:
        return self != ProcessedCounts()


def advance(caller: Caller, by: timedelta, answer: StoredAnswer | None = None) -> ProcessedCounts:
    """Let `by` pass for the test objects of the caller's merchant; return what was processed until nothing is due.

    `answer` is stored under the caller's idempotency key in the transaction in which time passes. Raise Replay and
    PaymentError as `idempotency.claim` does.
    """
    scope = Scope(caller.merchant_id, livemode=False)
    with transaction.atomic():
        record = idempotency.claim(caller)
        # Two requests for one merchant at once would deadlock on its rows.
        Merchant.objects.select_for_update(no_key=True).get(id=caller.merchant_id)
        Simulator().bring_nearer(_simulated(scope), by)
        for rows, name in _deadlines(scope):
            rows.update(**{name: F(name) - by})
        outbox.bring_nearer(Webhook.objects.filter(scope.within()), by, clock.now())
        if record and answer:
            execute_writes(idempotency.answered(record.id, record.merchant_id, answer))
    give_up_at, total = time.monotonic() + GIVE_UP_AFTER_SECONDS, ProcessedCounts()
    while time.monotonic() < give_up_at and (happened := _sweep(scope)):
        total += happened
    return total


def webhooks_due(merchant_id: UUID) -> int:
    """Return how many webhooks of the merchant's test objects wait for a worker now."""
    return Webhook.objects.of(merchant_id, livemode=False).filter(due_at__lte=clock.now()).count()


def _deadlines(scope: Scope) -> Iterator[tuple[QuerySet[Any], str]]:
    """Yield rows with a deadline and its column; attempts first, in the lock order of recording an outcome.

    The conditions are on the row itself, so that the database checks them again after waiting for its lock.
    """
    charges, sources = Charge.objects.filter(scope.within()), Source.objects.filter(scope.within())
    # The process of an open attempt may be calling now, and must not count as dead.
    looked_up = Attempt.objects.filter(due_at__isnull=False).exclude(state=Attempt.State.OPEN)
    unresolved = Attempt.objects.filter(due_at__isnull=False).values("charge_id")
    yield looked_up.filter(charge__in=charges), "due_at"
    yield charges.filter(action_expires_at__isnull=False, id__in=unresolved), "action_expires_at"
    yield charges.filter(hold_expires_at__isnull=False), "hold_expires_at"
    yield Checkout.objects.filter(scope.within(), state=Checkout.State.UNPAID, expires_at__isnull=False), "expires_at"
    # To look a check of a card up twice is harmless.
    yield Checkout.objects.filter(scope.within(), check_due_at__isnull=False), "check_due_at"
    requested = PaymentRequest.objects.filter(scope.within("checkout__"))
    for name in ("remind_at", "collect_from", "collect_at", "collect_after"):
        yield requested.filter(**{f"{name}__isnull": False}), name
    yield PaymentLink.objects.filter(scope.within(), active=True, ends_at__isnull=False), "ends_at"
    yield charges.filter(settle_due_at__isnull=False), "settle_due_at"
    yield Block.objects.filter(scope.within(), expires_at__isnull=False), "expires_at"
    yield Dispute.objects.filter(scope.within(), status__in=Dispute.OPEN), "evidence_due_at"
    # To send a response twice is harmless.
    yield Dispute.objects.filter(scope.within(), response_due_at__isnull=False), "response_due_at"
    yield PayoutSchedule.objects.filter(scope.within(), next_at__isnull=False), "next_at"
    yield PayoutPart.objects.filter(scope.within(), payout__isnull=True, is_settlement=True), "payable_at"
    # To send or look up a payout twice is harmless.
    yield Payout.objects.filter(scope.within(), due_at__isnull=False), "due_at"
    yield Payout.objects.filter(scope.within(), reserve_due_at__isnull=False), "reserve_due_at"
    yield ApprovalRequest.objects.proposed().filter(charge__in=charges), "expires_at"
    yield Card.objects.filter(sealed_cvc__isnull=False, source__in=sources), "cvc_expires_at"
    yield Card.objects.filter(number_expires_at__isnull=False, source__in=sources), "number_expires_at"
    yield Card.objects.filter(expiring_at__isnull=False, source__in=sources), "expiring_at"
    yield Card.objects.filter(refused_until__isnull=False, source__in=sources), "refused_until"
    yield WebhookEndpoint.objects.filter(scope.within(), failing_since__isnull=False), "failing_since"


def _sweep(scope: Scope) -> ProcessedCounts:
    return ProcessedCounts(
        actions=recovery.expire_actions(scope=scope),
        events=apply_simulator_messages(among=_simulated(scope)),
        lookups=recovery.resolve_due(scope=scope) + card_checks.resolve_due(scope=scope),
        holds=expiry.void_expired_holds(scope=scope),
        checkouts=sessions.expire_due(scope=scope) + requests.remind_due(scope=scope) + links.close_due(scope=scope),
        tries=collect.collect_due(scope=scope),
        responses=respond.send_due(scope=scope),
        settled=settlement.settle_due(scope=scope),
        payouts=states.release_reserves(scope=scope) + make.make_due(scope=scope) + send.send_due(scope=scope),
        cvcs=expiry.destroy_unused_cvcs(scope=scope),
        numbers=expiry.destroy_unused_numbers(scope=scope),
        requests=decide.expire(scope=scope),
    )


def _simulated(scope: Scope) -> list[str]:
    """Return the references of the scope's payments and payouts that wait at the simulator."""
    waiting = Simulator().waiting()
    payments = Attempt.objects.filter(scope.within("charge__"), id__in=waiting).values_list("id", flat=True)
    payouts = Payout.objects.filter(scope.within(), id__in=waiting).values_list("id", flat=True)
    return [row_id.hex for row_id in (*payments, *payouts)]

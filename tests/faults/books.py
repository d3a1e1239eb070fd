"""Whether our tables, our ledger, our events and the simulator's own books say the same of one source's money."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from payments.models import ApprovalRequest, Attempt, Charge, Dispute, Event, Posting, Refund
from payments.models.charging.attempt import UNRESOLVED
from payments.providers.simulator.messages import unacknowledged
from payments.providers.simulator.models import Entry, SimulatedPayment

NOT_FOUND_OUT = UNRESOLVED | Q(state="waiting", kind="refund")


@dataclass(frozen=True)
class Money:
    """Of one charge, in its smallest unit."""

    held: int
    taken: int
    given_back: int
    # By the payer's bank.
    disputed: int


def not_found_out(source_id: UUID) -> bool:
    """Whether an outcome is open that does not depend on the payer, or the provider has something to report."""
    attempts = Attempt.objects.filter(NOT_FOUND_OUT, charge__source_id=source_id)
    if Dispute.objects.filter(charge__source_id=source_id, response_due_at__isnull=False).exists():
        return True
    references = [attempt.reference for attempt in Attempt.objects.filter(charge__source_id=source_id)]
    if unacknowledged(references).exists():
        return True
    if ApprovalRequest.objects.approved().filter(charge__source_id=source_id).exists():
        return True
    return attempts.exists() or Charge.objects.filter(source_id=source_id).exclude(operation="").exists()


def differences(source_id: UUID) -> list[str]:
    """Return the differences between the books, a line each, after outcomes were found."""
    return [line for charge in Charge.objects.whole().filter(source_id=source_id) for line in _differences(charge)]


def _differences(charge: Charge) -> Iterator[str]:
    entries = Entry.objects.filter(payment__reference__in=_references(charge)).values_list("kind", "amount")
    ours, theirs = _with_us(charge), _at_provider(entries)
    if ours != theirs:
        yield f"{charge} is {ours} with us and {theirs} at the provider"
    sums = _ledger(charge)
    if (in_ledger := _in_ledger(sums)) != (theirs.held, theirs.taken - theirs.given_back - theirs.disputed):
        yield f"{charge} is {in_ledger} in the ledger and {theirs} at the provider"
    if left := {account: sums[account] for account in TRANSIENT if sums[account]}:
        yield f"{charge} leaves {left} in the ledger"
    if charge.authorized and charge.hold_extended_days != (days := _days_at_provider(charge)):
        yield f"{charge} is held for {charge.hold_extended_days} days more with us and {days} at the provider"
    yield from _gaps(charge)


TRANSIENT = {Posting.Account.REFUNDS_IN_TRANSIT, Posting.Account.REVERSALS}


def _references(charge: Charge) -> list[str]:
    return [attempt.reference for attempt in charge.attempts.all()]


def _days_at_provider(charge: Charge) -> int:
    return SimulatedPayment.objects.get(reference__in=_references(charge)).extended_days


def _with_us(charge: Charge) -> Money:
    return Money(
        held=charge.amount if charge.authorized else 0,
        taken=charge.amount_captured if charge.status != Charge.Status.VOIDED else 0,
        given_back=sum(refund.amount for refund in charge.refund_list if refund.status != Refund.Status.FAILED),
        disputed=sum(dispute.amount_withdrawn for dispute in charge.disputes.all()),
    )


def _at_provider(entries: Iterable[tuple[str, int]]) -> Money:
    sums: Counter[str] = Counter()
    for kind, amount in entries:
        sums[kind] += amount
    captured = sums[Entry.Kind.CAPTURE]
    return Money(
        held=sums[Entry.Kind.HOLD] - sums[Entry.Kind.RELEASE] - captured if sums[Entry.Kind.HOLD] else 0,
        taken=captured - sums[Entry.Kind.VOID],
        given_back=sums[Entry.Kind.REFUND] - sums[Entry.Kind.REFUND_RETURNED],
        disputed=sums[Entry.Kind.DISPUTE] - sums[Entry.Kind.DISPUTE_WON],
    )


def _ledger(charge: Charge) -> Counter[str]:
    sums: Counter[str] = Counter()
    for account, amount in Posting.objects.filter(charge=charge).values_list("account", "amount"):
        sums[account] += amount
    return sums


def _in_ledger(sums: Counter[str]) -> tuple[int, int]:
    """Return the held amount, and what was taken and not refunded."""
    account = Posting.Account
    return sums[account.PROVIDER_HOLD], sums[account.PROVIDER_RECEIVABLE] + sums[account.BANK]


def _gaps(charge: Charge) -> Iterator[str]:
    """Check that each change has one event, and that the last one shows the charge as it is."""
    versions = {charge.id: charge.version, charge.source_id: charge.source.version}
    versions |= {refund.id: refund.version for refund in charge.refund_list}
    versions |= dict(charge.disputes.values_list("id", "version"))
    announced: defaultdict[UUID, list[Event]] = defaultdict(list)
    for event in Event.objects.filter(object_id__in=versions).order_by("sequence"):
        announced[event.object_id].append(event)
    for object_id, version in versions.items():
        sequence = [event.sequence for event in announced[object_id]]
        if sequence != list(range(1, version + 1)):
            yield f"{charge} has events {sequence} of {object_id}, which is at {version}"
    shown = json.loads(bytes(announced[charge.id][-1].payload))["data"]["object"]
    if (shown["status"], shown["amount_captured"]) != (charge.status, charge.amount_captured):
        yield f"the last event of {charge} does not show that it is {charge.status}"

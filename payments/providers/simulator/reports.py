"""The simulator's settlement report, by its append-only book, and its records of everything that it did."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from heapq import merge

from django.db.models import F, OuterRef, Subquery

from payments.ids import public_id
from payments.providers.base import Operation
from payments.providers.done_there import DoneThere
from payments.providers.settlement_reports import Movement, SettlementLine
from payments.providers.simulator.models import Entry, SimulatedOperation

State = SimulatedOperation.State
SLICE = timedelta(minutes=10)


def settlement_lines(since: datetime | None, until: datetime) -> Iterator[SettlementLine]:
    """Return the entries by which money moved, booked from `since` (None: ever) to before `until`, oldest first.

    What is held or released has not moved, and is left out.
    """
    operation = SimulatedOperation.objects.filter(reference=OuterRef("reference")).values("id")
    entries = Entry.objects.filter(kind__in=list(Movement), created_at__lt=until)
    if since:
        entries = entries.filter(created_at__gte=since)
    rows = entries.annotate(operation_id=Subquery(operation)).select_related("payment").order_by("id")
    return map(_line, rows)


def _line(entry: Entry) -> SettlementLine:
    kind, operation_id = Movement(entry.kind), getattr(entry, "operation_id", None)
    return SettlementLine(
        reference=entry.reference,
        provider_ref=public_id("so", operation_id) if operation_id else str(entry.payment),
        kind=kind,
        amount=kind.sign * entry.amount,
        currency=entry.payment.currency,
        booked_at=entry.created_at,
    )


def done_between(since: datetime, until: datetime) -> Iterator[DoneThere]:
    """Return what was done from `since` to before `until`, oldest first. A refund that failed later is included.

    A slice of the time is read before anything of it is returned: no cursor is open over what the caller does.
    """
    while since < until:
        end = min(since + SLICE, until)
        yield from list(_done_within(since, end))
        since = end


def _done_within(since: datetime, until: datetime) -> Iterator[DoneThere]:
    within = {"created_at__gte": since, "created_at__lt": until}
    approved = Entry.objects.filter(**within, reference=F("payment__reference"), kind__in=["hold", "capture"])
    accepted = SimulatedOperation.objects.filter(**within).exclude(state=State.REFUSED)
    operations = accepted.exclude(kind=Operation.Kind.CANCEL)
    return merge(
        map(_payment_done, approved.select_related("payment").order_by("created_at")),
        map(_operation_done, operations.select_related("payment").order_by("created_at")),
        key=lambda done: done.done_at,
    )


def _payment_done(entry: Entry) -> DoneThere:
    reference, currency = entry.reference, entry.payment.currency
    there = str(entry.payment)
    return DoneThere(reference, there, reference, "authorize", entry.amount, currency, entry.created_at)


def _operation_done(row: SimulatedOperation) -> DoneThere:
    payment = row.payment
    return DoneThere(
        reference=row.reference,
        provider_ref=str(row),
        payment_reference=payment.reference,
        kind=row.kind,
        amount=row.amount,
        currency=payment.currency,
        done_at=row.created_at,
        hold_days=row.hold_days,
        has_failed=row.state == State.FAILED,
    )

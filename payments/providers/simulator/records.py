"""The simulator's records of what it did: approved payments, and accepted operations on them."""

from collections.abc import Iterator
from datetime import datetime
from heapq import merge

from django.db.models import F

from payments.providers.done_there import DoneThere
from payments.providers.simulator.models import Entry, SimulatedOperation

REFUSED, CANCEL = SimulatedOperation.State.REFUSED, "cancel"


def done_between(since: datetime, until: datetime) -> Iterator[DoneThere]:
    """Return what was done from `since` to before `until`, oldest first. A refund that failed later is included."""
    within = {"created_at__gte": since, "created_at__lt": until}
    approved = Entry.objects.filter(**within, reference=F("payment__reference"), kind__in=["hold", "capture"])
    operations = SimulatedOperation.objects.filter(**within).exclude(state=REFUSED).exclude(kind=CANCEL)
    return merge(
        map(_payment, approved.select_related("payment").order_by("created_at")),
        map(_operation, operations.select_related("payment").order_by("created_at")),
        key=lambda done: done.done_at,
    )


def _payment(entry: Entry) -> DoneThere:
    reference, currency = entry.reference, entry.payment.currency
    there = str(entry.payment)
    return DoneThere(reference, there, reference, "authorize", entry.amount, currency, entry.created_at)


def _operation(row: SimulatedOperation) -> DoneThere:
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
    )

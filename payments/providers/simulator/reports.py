"""The simulator's settlement report: the movements of money in its append-only book."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import OuterRef, Subquery

from payments.ids import public_id
from payments.providers.settlement_reports import Movement, SettlementLine
from payments.providers.simulator.models import Entry, SimulatedOperation


def settlement_lines(since: datetime | None, until: datetime) -> Iterator[SettlementLine]:
    """Return the entries by which money moved, booked from `since` (None: ever) to before `until`, oldest first.

    What is held or released has not moved, and is left out.
    """
    operation = SimulatedOperation.objects.filter(reference=OuterRef("reference")).values("id")
    entries = Entry.objects.filter(kind__in=list(Movement), created_at__lt=until)
    if since:
        entries = entries.filter(created_at__gte=since)
    rows = entries.annotate(operation_id=Subquery(operation)).select_related("payment").order_by("id")
    return map(_line, rows.iterator())


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

"""What waits for time in the simulator's books, and how time is made to pass for some of it."""

from collections.abc import Collection
from datetime import timedelta

from django.db.models import F

from payments.providers.simulator.messages import unacknowledged, unacknowledged_references
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment, SimulatedPayout

AWAITING = SimulatedPayment.objects.filter(state=SimulatedPayment.State.AWAITING)
DISPUTED = SimulatedPayment.objects.filter(dispute_due_at__isnull=False)
CHANGING = SimulatedOperation.objects.filter(settles_at__isnull=False)
PAYING = SimulatedPayout.objects.filter(due_at__isnull=False)


def waiting() -> set[str]:
    """Return the references of what changes later, and of unacknowledged messages.

    That is awaited payers, disputes, refunds and payouts.
    """
    later = [rows.values_list("reference", flat=True) for rows in (DISPUTED, CHANGING, PAYING)]
    booked = AWAITING.values_list("reference", flat=True).union(*later)
    return {*booked, *unacknowledged_references()}


def bring_nearer(references: Collection[str], by: timedelta) -> None:
    """Bring every deadline under one of `references` nearer by `by`."""
    # Refunds before payments, as when one ends.
    CHANGING.filter(reference__in=references).update(settles_at=F("settles_at") - by)
    AWAITING.filter(reference__in=references).update(expires_at=F("expires_at") - by)
    DISPUTED.filter(reference__in=references).update(dispute_due_at=F("dispute_due_at") - by)
    PAYING.filter(reference__in=references).update(due_at=F("due_at") - by)
    unacknowledged(references).update(due_at=F("due_at") - by)

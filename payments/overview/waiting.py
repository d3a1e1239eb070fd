"""What waits for operators now: one query each, by an index of what is under way."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q, Sum

from payments import clock
from payments.models import Charge, Notification, ReconciliationItem, Refund, UnknownOutcome
from payments.overview.days import Days

EXPIRES_SOON = timedelta(hours=48)
GIVEN_UP = ("exhausted", "gone")


@dataclass(frozen=True, slots=True)
class Pile:
    """How many things wait, and how much money is in them, in the currency's smallest unit."""

    count: int = 0
    amount: int = 0


@dataclass(frozen=True)
class Waiting:
    """`failing` and `given_up` are callbacks, `differences` of reconciliation; these have no currency of their own."""

    held: Pile
    expiring: Pile
    unknown: Pile
    refunds: Pile
    failing: int
    given_up: int
    differences: int


def waiting_for(livemode: bool, currency: str, days: Days) -> Waiting:
    """What waits in one mode and currency; of callbacks that were given up, those of `days`."""
    holds = _holds(livemode, currency)
    return Waiting(
        held=_pile(holds, "held"),
        expiring=_pile(holds, "expiring"),
        unknown=_unknown(livemode, currency),
        refunds=_refunds(livemode, currency),
        failing=_failing(livemode),
        given_up=_given_up(livemode, days),
        differences=_differences(livemode),
    )


def _holds(livemode: bool, currency: str) -> Mapping[str, int | None]:
    held = Charge.objects.filter(livemode=livemode, currency=currency, hold_expires_at__isnull=False)
    soon = Q(hold_expires_at__lte=clock.now() + EXPIRES_SOON)
    return held.aggregate(
        held_count=Count("id"),
        held_amount=Sum("amount"),
        expiring_count=Count("id", filter=soon),
        expiring_amount=Sum("amount", filter=soon),
    )


def _unknown(livemode: bool, currency: str) -> Pile:
    rows = UnknownOutcome.objects.filter(charge__livemode=livemode, charge__currency=currency)
    return _pile(rows.aggregate(unknown_count=Count("id"), unknown_amount=Sum("amount")), "unknown")


def _refunds(livemode: bool, currency: str) -> Pile:
    rows = Refund.objects.filter(livemode=livemode, currency=currency, status=Refund.Status.PENDING)
    return _pile(rows.aggregate(refunds_count=Count("id"), refunds_amount=Sum("amount")), "refunds")


def _failing(livemode: bool) -> int:
    """Callbacks that were tried without success and will be tried again."""
    return Notification.objects.filter(livemode=livemode, due_at__isnull=False, failures__gt=0).count()


def _given_up(livemode: bool, days: Days) -> int:
    return Notification.objects.filter(livemode=livemode, state__in=GIVEN_UP, id__gte=days.first_id).count()


def _differences(livemode: bool) -> int:
    """Those that nobody has closed; one of no charge that we know may be of either mode."""
    of_mode = Q(charge__livemode=livemode) | Q(charge__isnull=True)
    return ReconciliationItem.objects.filter(of_mode, state=ReconciliationItem.State.OPEN).count()


def _pile(sums: Mapping[str, int | None], name: str) -> Pile:
    return Pile(sums[f"{name}_count"] or 0, int(sums[f"{name}_amount"] or 0))

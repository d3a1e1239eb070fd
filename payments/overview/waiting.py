"""What waits for operators now: one query each, by an index of what is under way."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q, Sum

from payments import clock
from payments.models import (
    ApprovalRequest,
    Attempt,
    Charge,
    ProviderEvent,
    ReconciliationItem,
    Refund,
    StaffAct,
    UnknownOutcome,
    Webhook,
)
from payments.models.merchant_access import Limit, within
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
    """`late` is money that came after its charge had failed and has not gone back yet.

    `requests` are those of operators for a second person's word about money, `changes` those about keys, accounts and
    routes of live mode.

    `failing` and `given_up` are callbacks, `differences` of reconciliation, `webhooks` those that move nothing and want
    an operator; these have no currency of their own.
    """

    held: Pile
    expiring: Pile
    unknown: Pile
    late: Pile
    refunds: Pile
    requests: Pile
    failing: int
    given_up: int
    differences: int
    webhooks: int
    changes: int


def waiting_for(livemode: bool, currency: str, days: Days, limit: Limit = None) -> Waiting:
    """What of the merchants of `limit` waits in one mode and currency.

    Of callbacks given up, those of `days`.
    """
    own = within(limit, "merchant")
    holds = _holds(own, livemode, currency)
    return Waiting(
        held=_pile(holds, "held"),
        expiring=_pile(holds, "expiring"),
        unknown=_unknown(limit, livemode, currency),
        late=_late(limit, livemode, currency),
        refunds=_refunds(own, livemode, currency),
        requests=_requests(limit, livemode, currency),
        failing=_failing(own, livemode),
        given_up=_given_up(own, livemode, days),
        differences=_differences(limit, livemode),
        webhooks=_webhooks(limit, livemode),
        changes=ApprovalRequest.objects.proposed().filter(own).count() if livemode else 0,
    )


def _holds(own: Q, livemode: bool, currency: str) -> Mapping[str, int | None]:
    held = Charge.objects.filter(own, livemode=livemode, currency=currency, hold_expires_at__isnull=False)
    soon = Q(hold_expires_at__lte=clock.now() + EXPIRES_SOON)
    return held.aggregate(
        held_count=Count("id"),
        held_amount=Sum("amount"),
        expiring_count=Count("id", filter=soon),
        expiring_amount=Sum("amount", filter=soon),
    )


def _unknown(limit: Limit, livemode: bool, currency: str) -> Pile:
    own = within(limit, "charge__merchant")
    rows = UnknownOutcome.objects.filter(own, charge__livemode=livemode, charge__currency=currency)
    return _pile(rows.aggregate(unknown_count=Count("id"), unknown_amount=Sum("amount")), "unknown")


def _late(limit: Limit, livemode: bool, currency: str) -> Pile:
    own = within(limit, "charge__merchant")
    going_back = Attempt.objects.filter(own, kind=Attempt.Kind.REVERSE, due_at__isnull=False)
    rows = going_back.filter(charge__livemode=livemode, charge__currency=currency)
    return _pile(rows.aggregate(late_count=Count("id"), late_amount=Sum("amount")), "late")


def _refunds(own: Q, livemode: bool, currency: str) -> Pile:
    rows = Refund.objects.filter(own, livemode=livemode, currency=currency, status=Refund.Status.PENDING)
    return _pile(rows.aggregate(refunds_count=Count("id"), refunds_amount=Sum("amount")), "refunds")


def _requests(limit: Limit, livemode: bool, currency: str) -> Pile:
    rows = StaffAct.objects.proposed().filter(within(limit, "charge__merchant"), charge__livemode=livemode)
    sums = rows.filter(currency=currency).aggregate(requests_count=Count("id"), requests_amount=Sum("amount"))
    return _pile(sums, "requests")


def _failing(own: Q, livemode: bool) -> int:
    """Callbacks that were tried without success and will be tried again."""
    return Webhook.objects.filter(own, livemode=livemode, due_at__isnull=False, failures__gt=0).count()


def _given_up(own: Q, livemode: bool, days: Days) -> int:
    return Webhook.objects.filter(own, livemode=livemode, state__in=GIVEN_UP, id__gte=days.first_id).count()


def _differences(limit: Limit, livemode: bool) -> int:
    """Those that nobody has closed; one of no charge that we know may be of either mode, and is not of one merchant."""
    of_mode = Q(charge__livemode=livemode) | Q(charge__isnull=True)
    rows = ReconciliationItem.objects.filter(of_mode, within(limit, "charge__merchant"))
    return rows.filter(state=ReconciliationItem.State.OPEN).count()


def _webhooks(limit: Limit, livemode: bool) -> int:
    """Those one of whose reports nobody has closed, as their list has them."""
    rows = ProviderEvent.objects.filter(state=ProviderEvent.State.NEEDS_ATTENTION)
    return rows.filter(within(limit, "account__merchant"), account__livemode=livemode).count()


def _pile(sums: Mapping[str, int | None], name: str) -> Pile:
    return Pile(sums[f"{name}_count"] or 0, int(sums[f"{name}_amount"] or 0))

"""What needs operators' attention now: one query each, by an index of the open rows."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from payments import clock
from payments.models import (
    ApprovalRequest,
    Attempt,
    Charge,
    OperatorAction,
    ProviderEvent,
    ReconciliationItem,
    Refund,
    UnknownOutcome,
    Webhook,
)
from payments.models.merchants.merchant_access import Limit, within
from payments.overview.days import Days

EXPIRES_SOON = timedelta(hours=48)
GIVEN_UP = ("exhausted", "gone")


@dataclass(frozen=True, slots=True)
class Backlog:
    """A number of open items, and their money in the currency's smallest unit."""

    count: int = 0
    amount: int = 0


@dataclass(frozen=True)
class OpenItems:
    """The items that need attention in one mode and currency.

    `late` is money that came after its charge had failed and has not gone back yet. `requests` are actions that wait
    for an approver, `changes` those of live keys, accounts and routes. The others have no currency of their own:
    `failing` and `given_up` are our webhooks, `differences` those of reconciliation, and `webhooks` are providers'
    messages that moved nothing.
    """

    held: Backlog
    expiring: Backlog
    unknown: Backlog
    late: Backlog
    refunds: Backlog
    requests: Backlog
    failing: int
    given_up: int
    differences: int
    webhooks: int
    changes: int


def items_for(livemode: bool, currency: str, days: Days, limit: Limit = None) -> OpenItems:
    """Return the open items of the merchants in `limit`, in one mode and currency; webhooks given up are of `days`."""
    own, of_charge = within(limit, "merchant"), within(limit, "charge__merchant")
    in_currency = Q(charge__livemode=livemode, charge__currency=currency)
    held = Charge.objects.filter(own, livemode=livemode, currency=currency, hold_expires_at__isnull=False)
    reversals = Attempt.objects.filter(of_charge, in_currency, kind=Attempt.Kind.REVERSE, due_at__isnull=False)
    refunds = Refund.objects.filter(own, livemode=livemode, currency=currency, status=Refund.Status.PENDING)
    webhooks = Webhook.objects.filter(own, livemode=livemode)
    # A difference without a known charge may be of either mode.
    of_mode = Q(charge__livemode=livemode) | Q(charge__isnull=True)
    differences = ReconciliationItem.objects.filter(of_mode, of_charge, state=ReconciliationItem.State.OPEN)
    reports = ProviderEvent.objects.filter(state=ProviderEvent.State.NEEDS_ATTENTION, account__livemode=livemode)
    return OpenItems(
        held=_pile(held),
        expiring=_pile(held.filter(hold_expires_at__lte=clock.now() + EXPIRES_SOON)),
        unknown=_pile(UnknownOutcome.objects.filter(of_charge, in_currency)),
        late=_pile(reversals),
        refunds=_pile(refunds),
        requests=_pile(OperatorAction.objects.proposed().filter(of_charge, in_currency)),
        failing=webhooks.filter(due_at__isnull=False, failures__gt=0).count(),
        given_up=webhooks.filter(state__in=GIVEN_UP, id__gte=days.first_id).count(),
        differences=differences.count(),
        webhooks=reports.filter(within(limit, "account__merchant")).count(),
        changes=ApprovalRequest.objects.proposed().filter(own).count() if livemode else 0,
    )


def _pile(rows: QuerySet[Any]) -> Backlog:
    sums = rows.aggregate(count=Count("id"), total=Sum("amount"))
    return Backlog(sums["count"], int(sums["total"] or 0))

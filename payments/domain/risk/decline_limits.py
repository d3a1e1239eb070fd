"""The limits of declines in a window, for each card, address, key and merchant."""

from django.conf import settings
from django.db import transaction

from payments import clock
from payments.domain.audit import audit_log, notices
from payments.domain.audit.audit_log import Action
from payments.models import DeclineAlert, Merchant
from payments.redis_client.rate_counters import Window

Kind = DeclineAlert.Kind
BUDGET_MAX = 1_000_000
# A number of declines for each kind.
Quotas = dict[Kind, int]


class BadBudget(ValueError):
    """A budget that is not possible; the message is for the person who gave it."""


def present_window() -> Window:
    """Return the current window; all limits share it, so that its end does not show which limit was reached."""
    return Window.present(settings.DECLINE_WINDOW_MINUTES * 60)


def quotas(livemode: bool, budget: int | None) -> Quotas:
    """Return the limit of each kind for a merchant with this `budget`, or with the usual one where it is None.

    The limits of keys and addresses are in proportion to the budget, because most merchants have one of each. The
    limit of a card stays the same.
    """
    usual = settings.DECLINE_LIMITS if livemode else settings.DECLINE_LIMITS_TEST
    own = budget or usual[Kind.MERCHANT]
    shares = {kind: max(1, usual[kind] * own // usual[Kind.MERCHANT]) for kind in (Kind.ADDRESS, Kind.KEY)}
    return {Kind.CARD: usual[Kind.CARD], **shares, Kind.MERCHANT: own}


@transaction.atomic
def set_budget(merchant: Merchant, budget: int | None) -> None:
    """Set a merchant's limit of declines in a window, in both modes; None sets the usual one. Raises BadBudget."""
    if budget is not None and not 1 <= budget <= BUDGET_MAX:
        raise BadBudget(f"The budget must be a number of declines from 1 to {BUDGET_MAX}.")
    locked = Merchant.objects.select_for_update(no_key=True).get(id=merchant.id)
    before = locked.decline_budget
    detail = audit_log.change(before or "usual", budget or "usual")
    locked.decline_budget, locked.updated_at = budget, clock.now()
    locked.save(update_fields=["decline_budget", "updated_at"])
    audit_log.record(Action.CHANGED, merchant, fields=["decline_budget"], detail=detail, notice_of=merchant.id)
    notices.notify_merchant(merchant.id, notices.Change("decline_budget", before, budget))

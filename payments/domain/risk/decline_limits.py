"""How many declines are borne in a window, of a card, an address, a key and a merchant."""

from django.conf import settings
from django.db import transaction

from payments import clock
from payments.counting import Window
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.models import DeclineAlert, Merchant

Kind = DeclineAlert.Kind
BUDGET_MAX = 1_000_000
# So many of each kind.
Quotas = dict[Kind, int]


class BadBudget(ValueError):
    """No merchant can have this budget; the message is for the person who gave it."""


def present_window() -> Window:
    """The one under way; the same for all limits, so that its end does not tell which was reached."""
    return Window.present(settings.DECLINE_WINDOW_MINUTES * 60)


def quotas(livemode: bool, budget: int | None) -> Quotas:
    """How many declines of each kind are borne, where the merchant has a `budget` of its own, or None.

    The quotas of its keys and addresses grow and shrink with its budget, for most merchants have one of each; that of a
    card stays.
    """
    usual = settings.DECLINE_LIMITS if livemode else settings.DECLINE_LIMITS_TEST
    own = budget or usual[Kind.MERCHANT]
    shares = {kind: max(1, usual[kind] * own // usual[Kind.MERCHANT]) for kind in (Kind.ADDRESS, Kind.KEY)}
    return {Kind.CARD: usual[Kind.CARD], **shares, Kind.MERCHANT: own}


@transaction.atomic
def set_budget(merchant: Merchant, budget: int | None) -> None:
    """Has a merchant bear `budget` declines in a window from now on, in both modes; with None as many as is usual.

    Raises BadBudget.
    """
    if budget is not None and not 1 <= budget <= BUDGET_MAX:
        raise BadBudget(f"The budget must be a number of declines from 1 to {BUDGET_MAX}.")
    Merchant.objects.filter(id=merchant.id).update(decline_budget=budget, updated_at=clock.now())
    audit_log.record(Action.CHANGED, merchant, fields=["decline_budget"], detail=str(budget or "usual"))

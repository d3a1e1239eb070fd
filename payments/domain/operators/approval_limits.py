"""How much of a charge an operator gives back without a second person."""

from django.contrib.auth.models import User
from django.db.models import Max, Sum

from payments.models import ActLimit, Charge, StaffAct


def limit_of(operator: User, currency: str) -> int | None:
    """Up to how much `operator` gives back alone: the highest limit of their roles, of all roles for a superuser.

    None where there is none for the currency, and every such act needs a second person.
    """
    limits = ActLimit.objects.filter(currency=currency)
    if not operator.is_superuser:
        limits = limits.filter(role__user=operator)
    most: int | None = limits.aggregate(most=Max("amount"))["most"]
    return most


def may_be_done_alone(kind: str, amount: int, given_back_already: int, limit: int | None) -> bool:
    """Whether one person's word is enough, after so much was given back of the charge on one person's word already."""
    return kind not in StaffAct.OUTWARD or (limit is not None and given_back_already + amount <= limit)


def given_back_alone(charge: Charge) -> int:
    """How much of `charge` was given back, or is about to be, without a second person: by parts one goes no further."""
    states = (StaffAct.State.APPROVED, StaffAct.State.DONE)
    acts = charge.staff_acts.filter(kind__in=StaffAct.OUTWARD, state__in=states, decided_by=None)
    total: int = acts.aggregate(total=Sum("amount", default=0))["total"]
    return total

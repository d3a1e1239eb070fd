"""Where a charge stands: as a mark on its row, and as a filter of the list with the index that finds such charges."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest

from payments.admin.framework.base import Conditions
from payments.admin.framework.index_scan import Road
from payments.models import Attempt, Charge, UnknownOutcome
from payments.models.merchant_access import Limit
from payments.overview.waiting import EXPIRES_SOON

Status = Charge.Status
BY_STATUS, BY_MERCHANT = ("status", "livemode"), ("merchant_id", "livemode")


@dataclass(frozen=True, slots=True)
class State:
    """A state as operators filter by it. All that it holds for has one of `statuses`; empty where others know it."""

    label: str
    condition: Q
    statuses: tuple[str, ...] = ()
    # Whether nothing else has these statuses.
    is_whole: bool = False


HELD = Q(status=Status.SUCCEEDED, authorized=True)
STATES = {
    "held": State("Held", HELD),
    "expiring": State("Hold expires within 48 hours", HELD & Q(hold_expires_at__lte=Now() + EXPIRES_SOON)),
    "captured": State("Captured", Q(captured=True), (Status.SUCCEEDED, Status.REFUNDED)),
    "awaiting": State("Awaiting payer", Q(status=Status.PENDING, action__isnull=False), (Status.PENDING,)),
    "unknown": State("Unknown outcome", Q()),
    "refunded": State("Refunded", Q(status=Status.REFUNDED), (Status.REFUNDED,), is_whole=True),
    "part_refunded": State(
        "Partly refunded",
        Q(status=Status.SUCCEEDED, amount_refunded__gt=0, amount_refunded__lt=F("amount_captured")),
        (Status.SUCCEEDED,),
    ),
    "failed": State("Failed", Q(status=Status.FAILED), (Status.FAILED,), is_whole=True),
    "voided": State("Voided", Q(status=Status.VOIDED), (Status.VOIDED,), is_whole=True),
    "operation": State("Operation under way", ~Q(operation="")),
    "going_back": State("Late money going back", Q()),
    "reversed_late": State("Reversed after failing", Q(reversed_late=True), (Status.FAILED,)),
}

# The attempts by which charges of a state are found. What is under way has one that is due, and few are.
FEW: Mapping[str, Callable[[], QuerySet[Any]]] = {
    "unknown": UnknownOutcome.objects.all,
    "operation": lambda: Attempt.objects.filter(due_at__isnull=False),
    "going_back": lambda: Attempt.objects.filter(due_at__isnull=False, kind=Attempt.Kind.REVERSE),
}


class ByState(Conditions):
    """Where the money is; the last three are for whoever looks after the service."""

    title = "state"
    parameter_name = "money"
    conditions = {name: (state.label, state.condition) for name, state in STATES.items()}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found = super().queryset(request, queryset)
        few = FEW.get(self.value() or "")
        return found.filter(pk__in=few().values("charge_id")) if few else found


def road_by(chosen: Mapping[str, Any], limit: Limit) -> Road:
    """The index by which charges are found that are `chosen` by filters, for who is limited to some merchants."""
    modes = {"live": (True,), "test": (False,)}.get(chosen.get("mode", ""), (True, False))
    state = STATES.get(chosen.get("money", ""))
    if "merchant" in chosen or limit is not None:
        merchants = [chosen["merchant"].pk] if "merchant" in chosen else sorted(limit or ())
        return Road(BY_MERCHANT, tuple(product(merchants, modes)), frozenset({"merchant", "mode"}))
    if state is None:
        return _by_mode(modes) if "mode" in chosen else Road()
    if not state.statuses:
        return _by_few(chosen["money"], modes)
    taken_care_of = frozenset({"money", "mode"} if state.is_whole else {"mode"})
    return Road(BY_STATUS, tuple(product(state.statuses, modes)), taken_care_of)


def _by_mode(modes: tuple[bool, ...]) -> Road:
    return Road(BY_STATUS, tuple(product(Status.values, modes)), frozenset({"mode"}))


def _by_few(state: str, modes: tuple[bool, ...]) -> Road:
    """What is held has an index of its own; what is under way is found by its attempts."""
    taken_care_of = frozenset({"money", "mode"})
    is_held = state in ("held", "expiring")
    return (
        Road(("livemode",), tuple((mode,) for mode in modes), taken_care_of)
        if is_held
        else Road((), ((),), taken_care_of)
    )

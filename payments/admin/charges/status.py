"""The states of charges as filters of the list, with the index that finds each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest

from payments.admin.framework.base import Conditions
from payments.admin.framework.index_scan import IndexPath
from payments.models import Attempt, Charge, UnknownOutcome
from payments.models.merchants.merchant_access import Limit
from payments.overview.needs_attention import EXPIRES_SOON

Status = Charge.Status
BY_STATUS, BY_MERCHANT = ("status", "livemode"), ("merchant_id", "livemode")


@dataclass(frozen=True, slots=True)
class State:
    """A state as operators filter by it. All its charges have one of `statuses`; empty for any status."""

    label: str
    condition: Q
    statuses: tuple[str, ...] = ()
    # Whether all charges with these statuses are in this state.
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
    "going_back": State("Late payments being reversed", Q()),
    "reversed_late": State("Reversed after failing", Q(reversed_late=True), (Status.FAILED,)),
}

# The attempts that find the charges of a state. An operation in progress has a due attempt, and few are due.
FEW: Mapping[str, Callable[[], QuerySet[Any]]] = {
    "unknown": UnknownOutcome.objects.all,
    "operation": lambda: Attempt.objects.filter(due_at__isnull=False),
    "going_back": lambda: Attempt.objects.filter(due_at__isnull=False, kind=Attempt.Kind.REVERSE),
}


class ByState(Conditions):
    """Where the money is; the last three are for those who run the service."""

    title = "state"
    parameter_name = "money"
    conditions = {name: (state.label, state.condition) for name, state in STATES.items()}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found = super().queryset(request, queryset)
        few = FEW.get(self.value() or "")
        return found.filter(pk__in=few().values("charge_id")) if few else found


def index_path_for(chosen: Mapping[str, Any], limit: Limit) -> IndexPath:
    """Return the index that finds the charges of the `chosen` filters within the operator's merchant limit."""
    modes = {"live": (True,), "test": (False,)}.get(chosen.get("mode", ""), (True, False))
    state = STATES.get(chosen.get("money", ""))
    if "merchant" in chosen or limit is not None:
        merchants = [chosen["merchant"].pk] if "merchant" in chosen else sorted(limit or ())
        return IndexPath(BY_MERCHANT, tuple(product(merchants, modes)), frozenset({"merchant", "mode"}))
    if state is None:
        by_mode = IndexPath(BY_STATUS, tuple(product(Status.values, modes)), frozenset({"mode"}))
        return by_mode if "mode" in chosen else IndexPath()
    if chosen["money"] in ("held", "expiring"):
        return IndexPath(("livemode",), tuple((mode,) for mode in modes), frozenset({"money", "mode"}))
    if not state.statuses:
        # Attempts find these charges by their primary keys.
        return IndexPath((), ((),), frozenset({"money", "mode"}))
    covered = frozenset({"money", "mode"} if state.is_whole else {"mode"})
    return IndexPath(BY_STATUS, tuple(product(state.statuses, modes)), covered)

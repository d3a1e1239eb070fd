"""The states of charges as filters of the list, with the index that finds each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from django.db.models import F, Q, QuerySet, TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Now
from django.db.models.lookups import In
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from payments.admin.framework.filters import Conditions
from payments.admin.framework.index_scan import BY_HOLD_END, BY_KEY, IndexPath
from payments.domain.charging.state_machine import FLAGS
from payments.inbox.rows import EXPIRES_SOON
from payments.models import Attempt, Charge, UnknownOutcome
from payments.models.charging import shown_states as words
from payments.models.charging.charge import ABANDONED
from payments.models.merchants.merchant_access import Limit

Status = Charge.Status
BY_STATE, BY_MERCHANT = ("status", "captured", "livemode"), ("merchant_id", "livemode")
# The values of the first two columns of an index by state.
Stored = tuple[tuple[str, bool], ...]
ALL: Stored = tuple((flags.status, flags.captured) for flags in FLAGS)


@dataclass(frozen=True, slots=True)
class State:
    """A state as operators filter by it. `stored` says which charges may be in it; empty for any."""

    label: Any
    condition: Q
    stored: Stored = ()
    # Whether all these charges are in this state, or nearly all.
    is_whole: bool = False


def _stored(*statuses: str) -> Stored:
    return tuple((status, captured) for status, captured in ALL if status in statuses)


HELD, CAPTURED = (Status.SUCCEEDED.value, False), (Status.SUCCEEDED.value, True)
IS_HELD = Q(status=Status.SUCCEEDED, authorized=True)
WHY_NOT_PAID = Coalesce(KeyTextTransform("code", "failure_data"), Value(""), output_field=TextField())
IS_LEFT = In(WHY_NOT_PAID, ABANDONED)
STATES = {
    "held": State(words.HELD.title, IS_HELD, (HELD,), is_whole=True),
    "expiring": State(
        _("Hold expires within 48 hours"),
        IS_HELD & Q(hold_expires_at__lte=Now() + EXPIRES_SOON),
        (HELD,),
        is_whole=True,
    ),
    "captured": State(words.TAKEN.title, Q(captured=True), (CAPTURED, *_stored(Status.REFUNDED)), is_whole=True),
    "awaiting": State(
        words.AWAITING_PAYER.title,
        Q(status=Status.PENDING, action__isnull=False),
        _stored(Status.PENDING),
    ),
    "unknown": State(_("Unknown outcome"), Q()),
    "refunded": State(words.REFUNDED.title, Q(status=Status.REFUNDED), _stored(Status.REFUNDED), is_whole=True),
    "part_refunded": State(
        words.PARTLY_REFUNDED.title,
        Q(status=Status.SUCCEEDED, amount_refunded__gt=0, amount_refunded__lt=F("amount_captured")),
        (CAPTURED,),
    ),
    "declined": State(words.DECLINED.title, Q(status=Status.FAILED) & ~Q(IS_LEFT), _stored(Status.FAILED)),
    "abandoned": State(words.LEFT.title, Q(IS_LEFT, status=Status.FAILED), _stored(Status.FAILED)),
    "voided": State(words.VOIDED.title, Q(status=Status.VOIDED), _stored(Status.VOIDED), is_whole=True),
    "operation": State(_("Operation under way"), ~Q(operation="")),
    "going_back": State(_("Late payments being reversed"), Q()),
    "reversed_late": State(_("Reversed after failing"), Q(reversed_late=True), _stored(Status.FAILED)),
}
# The states whose charges an index has in the order in which their holds end.
HOLDS = ("held", "expiring")

# The attempts that find the charges of a state. An operation in progress has a due attempt, and few are due.
FEW: Mapping[str, Callable[[], QuerySet[Any]]] = {
    "unknown": UnknownOutcome.objects.all,
    "operation": lambda: Attempt.objects.filter(due_at__isnull=False),
    "going_back": lambda: Attempt.objects.filter(due_at__isnull=False, kind=Attempt.Kind.REVERSE),
}


class ByState(Conditions):
    """Where the money is; the last three are for those who run the service."""

    title = _("state")
    parameter_name = "money"
    conditions = {name: (state.label, state.condition) for name, state in STATES.items()}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found = super().queryset(request, queryset)
        few = FEW.get(self.value() or "")
        return found.filter(pk__in=few().values("charge_id")) if few else found


def index_path_for(chosen: Mapping[str, Any], limit: Limit, order: tuple[str, ...] = BY_KEY) -> IndexPath:
    """Return the index that finds the charges of the `chosen` filters within the operator's merchant limit."""
    modes = {"live": (True,), "test": (False,)}.get(chosen.get("mode", ""), (True, False))
    state = STATES.get(chosen.get("money", ""))
    if "merchant" in chosen or limit is not None:
        merchants = [chosen["merchant"].pk] if "merchant" in chosen else sorted(limit or ())
        covered = frozenset({"merchant", "mode"} if order == BY_KEY else {"merchant", "mode", "money"})
        return IndexPath(BY_MERCHANT, tuple(product(merchants, modes)), covered, order)
    if order == BY_HOLD_END:
        return IndexPath(filters=frozenset({"money"}), order=order)
    if state is None:
        return IndexPath(BY_STATE, _prefixes(ALL, modes), frozenset({"mode"})) if "mode" in chosen else IndexPath()
    if not state.stored:
        # Attempts find these charges by their primary keys.
        return IndexPath((), ((),), frozenset({"money", "mode"}))
    by_state = frozenset({"money", "mode"} if state.is_whole else {"mode"})
    return IndexPath(BY_STATE, _prefixes(state.stored, modes), by_state)


def _prefixes(stored: Stored, modes: Sequence[bool]) -> tuple[tuple[Any, ...], ...]:
    return tuple((*columns, mode) for columns, mode in product(stored, modes))

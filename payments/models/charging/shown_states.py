"""The states of charges and checkouts: one word for one state in lists, filters, figures and the search."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from payments.models.charging.charge import ABANDONED, Charge


@dataclass(frozen=True, slots=True)
class ShownState:
    """A state as people see it: its word, the mark of its colour, and by which other words a search asks for it."""

    name: str
    label: Any
    mark: str
    asked_as: str = ""

    @property
    def title(self) -> Any:
        """Return the word as the name of a filter or a figure."""
        return capfirst(self.label)


AWAITING_PAYER = ShownState("awaiting", _("awaiting payer"), "warn", "waiting payer")
IN_PROGRESS = ShownState("pending", _("pending"), "warn", "waiting")
HELD = ShownState("held", _("held"), "warn", "hold authorized succeeded")
TAKEN = ShownState("captured", _("captured"), "good", "paid succeeded")
PARTLY_REFUNDED = ShownState("part_refunded", _("partly refunded"), "good", "partly")
REFUNDED = ShownState("refunded", _("refunded"), "quiet")
VOIDED = ShownState("voided", _("voided"), "quiet")
DECLINED = ShownState("declined", _("declined"), "bad", "failed")
LEFT = ShownState("abandoned", _("abandoned"), "quiet", "failed")
# What a charge is beside its state.
DISPUTED = ShownState("disputed", _("disputed"), "bad")
OF_CHECKOUTS: Mapping[str, ShownState] = {
    "unpaid": ShownState("unpaid", _("unpaid"), "quiet", "waiting"),
    "paying": ShownState("paying", _("being paid"), "warn", "waiting"),
    "authorized": HELD,
    "paid": ShownState("paid", _("paid"), "good"),
    "voided": VOIDED,
    "expired": ShownState("expired", _("expired"), "quiet"),
}
OF_CHARGES = (AWAITING_PAYER, IN_PROGRESS, HELD, TAKEN, PARTLY_REFUNDED, REFUNDED, VOIDED, DECLINED, LEFT, DISPUTED)
SHOWN_STATES = tuple(dict.fromkeys([*OF_CHARGES, *OF_CHECKOUTS.values()]))


def state_of(charge: Any) -> ShownState:
    """Return the state of a charge, or of a row with its columns."""
    if charge.status == Charge.Status.FAILED:
        return not_paid(charge.failure_data)
    if charge.status == Charge.Status.PENDING:
        return AWAITING_PAYER if charge.action else IN_PROGRESS
    if charge.status == Charge.Status.SUCCEEDED and not charge.authorized:
        return PARTLY_REFUNDED if charge.amount_refunded else TAKEN
    return {Charge.Status.SUCCEEDED: HELD, Charge.Status.REFUNDED: REFUNDED, Charge.Status.VOIDED: VOIDED}[
        charge.status
    ]


def not_paid(failure_data: Mapping[str, Any] | None) -> ShownState:
    """Return the state of a charge that failed: nobody declined it where its payer left."""
    return LEFT if (failure_data or {}).get("code") in ABANDONED else DECLINED

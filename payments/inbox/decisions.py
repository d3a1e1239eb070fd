"""Requests, corrections and operators' actions that wait for a decision, from one operator's point of view."""

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q

from payments.models import ApprovalRequest, Correction, OperatorAction
from payments.models.merchants.merchant_access import Limit, within
from payments.money import format_amount

# The most rows read of each table.
READ_MAX = 100


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row that waits, with what is asked for in a few words."""

    row: Any
    what: str
    merchant: str
    amount: str
    livemode: bool


@dataclass(slots=True)
class Own:
    """What an operator may decide, what they may take, and what they asked others for; most urgent first."""

    to_decide: list[Waiting] = field(default_factory=list)
    to_take: list[Waiting] = field(default_factory=list)
    own: list[Waiting] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of what one operator asks and another decides."""

    model: Any
    # The path from a row to its merchant.
    merchant: str
    may_decide: str
    order: str


# Each order has an index of the open rows, or few of them.
TABLES = (
    Table(OperatorAction, "charge__merchant", "payments.decide_operatoraction", "expires_at"),
    Table(Correction, "attempt__charge__merchant", "payments.approve_correction", "created_at"),
    Table(ApprovalRequest, "merchant", "payments.decide_approvalrequest", "expires_at"),
)


def proposed(limit: Limit, most: int = READ_MAX) -> list[Waiting]:
    """Return at most `most` rows that wait for a decision at the merchants in `limit`, oldest first."""
    found = [_waiting(row) for table in TABLES for row in _rows(table, limit, Q())[:most]]
    return sorted(found, key=attrgetter("row.created_at"))[:most]


def waiting_for(user: User, limit: Limit) -> Own:
    """Return what waits for `user`, and what they wait for."""
    own = Own()
    for table in TABLES:
        if not user.has_perm(f"payments.view_{table.model._meta.model_name}"):
            continue
        if user.has_perm(table.may_decide):
            own.to_decide += map(_waiting, _rows(table, limit, ~Q(proposed_by=user))[:READ_MAX])
        own.own += map(_waiting, _rows(table, limit, Q(proposed_by=user))[:READ_MAX])
    keys = ApprovalRequest.objects.filter(
        within(limit, "merchant"), state=ApprovalRequest.State.APPROVED, proposed_by=user
    )
    own.to_take += map(_waiting, keys.select_related("merchant").order_by("expires_at")[:READ_MAX])
    return own


def _rows(table: Table, limit: Limit, condition: Q) -> Any:
    rows = table.model.objects.proposed().filter(condition, within(limit, table.merchant))
    return rows.select_related(table.merchant).order_by(table.order)


def _waiting(row: Any) -> Waiting:
    match row:
        case OperatorAction(charge=charge):
            what, amount = f"{row.kind.capitalize()} of a charge", format_amount(row.amount, row.currency)
            return Waiting(row, what, charge.merchant.title, amount, charge.livemode)
        case Correction(attempt=attempt):
            charge = attempt.charge
            what = f"Correction of a {attempt.kind}: {row.outcome.replace('_', ' ')}"
            return Waiting(
                row, what, charge.merchant.title, format_amount(attempt.amount, charge.currency), charge.livemode
            )
        case _:
            return Waiting(row, row.get_kind_display(), row.merchant.title, "", livemode=True)

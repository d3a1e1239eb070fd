"""Requests that wait for a decision, from one operator's point of view."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import QuerySet

from payments.inbox.entries import about_charge
from payments.models import ApprovalRequest, Correction, OperatorAction
from payments.models.merchants.merchant_access import Limit, within
from payments.models.operators.approval_request import SHOWN_AS
from payments.money import shown_amount

# The most rows read of each list.
READ_MAX = 100


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row that waits, with what is asked for in a few words."""

    row: ApprovalRequest
    what: str
    about: str
    merchant: str
    amount: str
    livemode: bool


@dataclass(frozen=True, slots=True)
class Own:
    """What an operator may decide, what they may take, and what they asked others for; most urgent first."""

    to_decide: list[Waiting]
    to_take: list[Waiting]
    own: list[Waiting]


def proposed(limit: Limit, most: int = READ_MAX) -> list[Waiting]:
    """Return at most `most` requests that wait for a decision at the merchants in `limit`, oldest first."""
    rows = ApprovalRequest.objects.proposed().filter(within(limit, "merchant"))
    return _waiting(rows.order_by("created_at"), most)


def waiting_for(user: User, limit: Limit) -> Own:
    """Return what waits for `user`, and what they wait for."""
    at_merchants = ApprovalRequest.objects.filter(within(limit, "merchant")).order_by("expires_at")
    seen = [model for model in SHOWN_AS if user.has_perm(f"payments.view_{model._meta.model_name}")]
    decided = [model for model in seen if user.has_perm(model.MAY_DECIDE)]
    own = at_merchants.filter(proposed_by=user)
    return Own(
        to_decide=_waiting(at_merchants.proposed().exclude(proposed_by=user).filter(kind__in=_kinds(decided))),
        to_take=_waiting(own.approved().filter(kind__in=ApprovalRequest.KEYS)),
        own=_waiting(own.proposed().filter(kind__in=_kinds(seen))),
    )


def _kinds(models: Iterable[type[ApprovalRequest]]) -> list[str]:
    return [kind for model in models for kind in model.KINDS]


def _waiting(rows: QuerySet[ApprovalRequest], most: int = READ_MAX) -> list[Waiting]:
    return list(map(_in_words, rows.select_related("merchant", "charge__source__card", "attempt")[:most]))


def _in_words(row: ApprovalRequest) -> Waiting:
    what, amount = row.get_kind_display().lower(), ""
    if row.amount:
        amount = shown_amount(row.amount, row.currency)
    if row.shown_as is OperatorAction:
        what = f"{row.kind} a charge"
    if row.shown_as is Correction:
        what = f"record an outcome as {row.after['outcome'].replace('_', ' ')}"
    livemode = row.charge.livemode if row.charge else True
    return Waiting(row, f"Request to {what}", about_charge(row), row.merchant.title, amount, livemode)

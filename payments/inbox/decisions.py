"""Requests that wait for a decision, from one operator's point of view."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _

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


def proposed(limit: Limit, most: int = READ_MAX) -> list[Waiting]:
    """Return at most `most` requests that wait for a decision at the merchants in `limit`, oldest first."""
    rows = ApprovalRequest.objects.proposed().filter(within(limit, "merchant"))
    return _waiting(rows.order_by("created_at"), most)


def to_decide(user: User, limit: Limit) -> list[Waiting]:
    """Return what `user` may decide at the merchants in `limit`, what expires first at the top."""
    decided = [model for model in _seen_by(user) if user.has_perm(model.MAY_DECIDE)]
    rows = _first_to_expire(limit).proposed().exclude(proposed_by=user)
    return _waiting(rows.filter(kind__in=_kinds(decided)))


def to_take(user: User, limit: Limit) -> list[Waiting]:
    """Return the approved keys that `user` asked for and has not taken yet."""
    rows = _first_to_expire(limit).filter(proposed_by=user)
    return _waiting(rows.approved().filter(kind__in=ApprovalRequest.KEYS))


def asked_for(user: User, limit: Limit) -> list[Waiting]:
    """Return what `user` asked others to decide."""
    rows = _first_to_expire(limit).filter(proposed_by=user)
    return _waiting(rows.proposed().filter(kind__in=_kinds(_seen_by(user))))


def _first_to_expire(limit: Limit) -> Any:
    return ApprovalRequest.objects.filter(within(limit, "merchant")).order_by("expires_at")


def _seen_by(user: User) -> list[type[ApprovalRequest]]:
    return [model for model in SHOWN_AS if user.has_perm(f"payments.view_{model._meta.model_name}")]


def _kinds(models: Iterable[type[ApprovalRequest]]) -> list[str]:
    return [kind for model in models for kind in model.KINDS]


def _waiting(rows: QuerySet[ApprovalRequest], most: int = READ_MAX) -> list[Waiting]:
    return list(map(_in_words, rows.select_related("merchant", "charge__source__card", "attempt")[:most]))


def _in_words(row: ApprovalRequest) -> Waiting:
    what, amount = row.get_kind_display().lower(), ""
    if row.amount:
        amount = shown_amount(row.amount, row.currency)
    if row.shown_as is OperatorAction:
        what = _(f"{row.kind} a charge")
    if row.shown_as is Correction:
        what = f"record an outcome as {row.after['outcome'].replace('_', ' ')}"
    livemode = row.charge.livemode if row.charge else True
    return Waiting(
        row, _("Request to {what}").format(what=what), about_charge(row), row.merchant.title, amount, livemode
    )

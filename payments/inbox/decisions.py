"""Requests that wait for a decision, from one operator's point of view."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from payments.domain.approvals.verbs import PAYOUT, VERBS
from payments.inbox.entries import about_charge
from payments.models import ApprovalRequest, AssistantCall, Correction, OperatorAction
from payments.models.merchants.merchant_access import Limit, within
from payments.models.operators.approval_request import SHOWN_AS
from payments.money import shown_amount

# The most rows read of each list.
READ_MAX = 100
MAY_SEE = "payments.view_approvalrequest"
# What a merchant's own people ask for and decide, by the permission to see it; the other kinds are the service's.
OF_MERCHANTS: dict[str, str] = {
    **dict.fromkeys(OperatorAction.KINDS, "payments.view_operatoraction"),
    ApprovalRequest.Kind.ASSISTANT_CALL: "payments.view_assistantcall",
    **dict.fromkeys(ApprovalRequest.KEYS, MAY_SEE),
    ApprovalRequest.Kind.ADD_PAYOUT_ACCOUNT: "payments.view_payoutaccount",
    ApprovalRequest.Kind.RAISE_LIMIT: "payments.view_approvallimit",
}


OF_SERVICE = {kind: f"payments.view_{model._meta.model_name}" for model in SHOWN_AS for kind in model.KINDS}
MAY_DECIDE = {kind: model.MAY_DECIDE for model in SHOWN_AS for kind in model.KINDS}
# Finance sends what it approves.
MAY_DECIDE[ApprovalRequest.Kind.PAY_OUT] = "payments.approve_payout"
MAY_DECIDE[ApprovalRequest.Kind.SEND_FILE] = "payments.send_payoutfile"
MAY_DECIDE[ApprovalRequest.Kind.FILE_LAYOUT] = "payments.add_filelayout"


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
    return _waiting(decidable(user, limit))


def decidable(user: User, limit: Limit) -> QuerySet[ApprovalRequest]:
    """Return the requests of others that `user` may decide at the merchants in `limit`, the first to expire first."""
    kinds = [kind for kind in seen_kinds(user) if user.has_perm(MAY_DECIDE[kind])]
    rows: QuerySet[ApprovalRequest] = _first_to_expire(limit).proposed().exclude(proposed_by=user)
    if not user.is_staff:
        # What the staff ask for about a charge is theirs to decide. Merchants' people cannot see their accounts.
        of_people = Q(proposed_by__in=User.objects.filter(is_staff=False))
        rows = rows.filter(of_people | ~Q(kind__in=OperatorAction.KINDS))
    if not user.has_perm(PAYOUT.permission):
        rows = rows.exclude(kind=ApprovalRequest.Kind.ASSISTANT_CALL, after__tool=PAYOUT.name)
    return rows.filter(kind__in=kinds)


def to_take(user: User, limit: Limit) -> list[Waiting]:
    """Return the approved keys that `user` asked for and has not taken yet."""
    rows = _first_to_expire(limit).filter(proposed_by=user)
    return _waiting(rows.approved().filter(kind__in=ApprovalRequest.KEYS))


def asked_for(user: User, limit: Limit) -> list[Waiting]:
    """Return what `user` asked others to decide."""
    rows = _first_to_expire(limit).filter(proposed_by=user)
    return _waiting(rows.proposed().filter(kind__in=seen_kinds(user)))


def _first_to_expire(limit: Limit) -> Any:
    return ApprovalRequest.objects.filter(within(limit, "merchant")).order_by("expires_at")


def seen_kinds(user: User) -> list[str]:
    """Return the kinds of requests that `user` may see."""
    seen = OF_SERVICE if user.is_staff else OF_MERCHANTS
    return [kind for kind, permission in seen.items() if user.has_perm(permission)]


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
    words = _("Request to {what}")
    if row.shown_as is AssistantCall:
        what, words = _(VERBS[row.verb].tool), _("An assistant asks to {what}")
    return Waiting(row, words.format(what=what), about_charge(row), row.whose, amount, row.livemode)

"""Everything that waits for approval: operator actions, corrections, keys, accounts and routes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from payments.admin.approvals.forms import MAY_DECIDE
from payments.admin.approvals.words import short_words
from payments.admin.framework.object_actions import operator_of
from payments.admin.operators import corrections, requests
from payments.domain.operators.summary import describe
from payments.models import ApprovalRequest, Correction, OperatorAction

# The most rows shown of each kind; their own lists have the others.
SHOWN_MAX = 100


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """A request that waits; `is_mine` and `may_decide` say what the viewing operator has to do with it."""

    what: str
    merchant: str
    reason: str
    requester: User
    created_at: datetime
    expires_at: datetime | None
    address: str
    is_mine: bool
    may_decide: bool


def waiting_page(request: HttpRequest, page: admin.ModelAdmin) -> TemplateResponse:
    """Return the page of waiting requests, oldest first: to be decided by the operator, their own, and others."""
    items = sorted(_items(request, page), key=attrgetter("created_at"))
    mine = [item for item in items if item.is_mine]
    decided_here = [item for item in items if item.may_decide]
    others = [item for item in items if not (item.is_mine or item.may_decide)]
    context = page.admin_site.each_context(request) | {
        "title": "Waiting for approval",
        "opts": page.opts,
        "media": page.media,
        "sections": [
            ("For you to decide", decided_here, "Nothing waits for you."),
            ("Approved keys for you to take", list(_keys_to_take(request, page)), "No key waits for you."),
            ("Yours, for somebody else to decide", mine, "None of your requests waits."),
            ("For others to decide", others, "Nothing else waits."),
        ],
    }
    return TemplateResponse(request, "admin/payments/approvalrequest/waiting.html", context)


def _items(request: HttpRequest, page: admin.ModelAdmin) -> Iterator[WaitingItem]:
    operator = operator_of(request)
    for act in _rows(request, page, OperatorAction, "charge__merchant"):
        what, decider = describe(act), operator.has_perm(requests.MAY_DECIDE)
        yield _item(act, what, act.charge.merchant, act.reason, act.expires_at, operator, decider)
    for row in _rows(request, page, Correction, "attempt__charge__merchant"):
        what = f"{row.attempt.kind}, outcome: {corrections.said(row)}"
        decider = operator.has_perm(corrections.DECISIONS[0].permission)
        yield _item(row, what, row.attempt.charge.merchant, row.evidence, None, operator, decider)
    for change in _rows(request, page, ApprovalRequest, "merchant"):
        what, decider = short_words(change), operator.has_perm(MAY_DECIDE)
        yield _item(change, what, change.merchant, change.reason, change.expires_at, operator, decider)


def _keys_to_take(request: HttpRequest, page: admin.ModelAdmin) -> Iterator[WaitingItem]:
    operator = operator_of(request)
    approved = page.get_queryset(request).filter(state=ApprovalRequest.State.APPROVED, proposed_by=operator)
    for row in approved.order_by("pk")[:SHOWN_MAX]:
        yield _item(row, short_words(row), row.merchant, row.reason, row.expires_at, operator, decider=False)


def _rows(request: HttpRequest, page: admin.ModelAdmin, model: Any, merchant: str) -> QuerySet[Any]:
    """Return the waiting rows of `model` that the operator may see."""
    own = page.admin_site.get_model_admin(model)
    if not own.has_view_permission(request):
        return model.objects.none()
    rows = own.get_queryset(request).filter(state="proposed")
    return rows.select_related("proposed_by", merchant).order_by("pk")[:SHOWN_MAX]


def _item(
    row: Any, what: str, merchant: object, reason: str, expires_at: datetime | None, operator: User, decider: bool
) -> WaitingItem:
    is_mine = row.proposed_by_id == operator.pk
    may_decide = decider and not is_mine
    step = "decide" if may_decide else "change"
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{step}", args=[row.pk])
    return WaitingItem(
        what, str(merchant), reason, row.proposed_by, row.created_at, expires_at, address, is_mine, may_decide
    )

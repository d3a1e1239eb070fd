"""Requests for approval of keys, provider accounts and routes: their pages and decisions."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from payments.admin.approvals.forms import MAY_DECIDE, NOBODY_ELSE, has_approver
from payments.admin.approvals.pending import waiting_page
from payments.admin.approvals.words import changes_of, consequence_of, facts_of
from payments.admin.framework.base import by, one_of
from payments.admin.framework.decisions import DecidedByAnother, Decision, Message, Proposal
from payments.admin.framework.formats import chip, lines, link, utc
from payments.admin.framework.object_actions import ActionButton, Consequence, Facts, operator_of, shown_once
from payments.admin.operators.requests import ByTurn
from payments.domain.approvals import decisions
from payments.domain.operators.four_eyes import Refused
from payments.models import ApprovalRequest, Merchant
from payments.vault import VaultUnavailable

Kind, State = ApprovalRequest.Kind, ApprovalRequest.State
# The permission that a requester needs for each kind.
PERMISSIONS = {
    Kind.ISSUE_KEY: "payments.add_apikey",
    Kind.ROLL_KEY: "payments.change_apikey",
    Kind.ADD_ACCOUNT: "payments.change_provideraccount",
    Kind.CHANGE_ACCOUNT: "payments.change_provideraccount",
    Kind.ADD_ROUTE: "payments.change_route",
    Kind.CHANGE_ROUTE: "payments.change_route",
}
DECISIONS = (
    Decision("approve", "Approve", MAY_DECIDE),
    Decision("decline", "Decline", MAY_DECIDE),
    Decision("withdraw", "Withdraw", "payments.view_approvalrequest", by_proposer=True),
)
DECIDE: dict[str, Callable[[ApprovalRequest, User, str], None]] = {
    "approve": decisions.approve,
    "decline": decisions.decline,
    "withdraw": decisions.withdraw,
}
CHIPS = {State.PROPOSED: "warn", State.APPROVED: "warn", State.DONE: "good", State.DECLINED: "bad"}
MESSAGES = {
    State.APPROVED: (messages.SUCCESS, "Approved. The requester takes the key, which is made then."),
    State.DONE: (messages.SUCCESS, "Approved and done."),
    State.DECLINED: (messages.SUCCESS, "Declined. Nothing was changed."),
    State.WITHDRAWN: (messages.SUCCESS, "Withdrawn. Nothing was changed."),
}


class RequestedChange(Proposal):
    """A change that no operator makes alone."""

    decisions = DECISIONS

    def question(self, row: ApprovalRequest) -> str:
        return f"{row}?"

    def consequence_of(self, row: ApprovalRequest) -> Consequence:
        return consequence_of(row)

    def facts_of(self, row: ApprovalRequest) -> Facts:
        return facts_of(row)

    def carry_out(self, row: ApprovalRequest, decision: str, operator: User, note: str) -> Message:
        try:
            DECIDE[decision](row, operator, note)
        except VaultUnavailable as fault:
            raise Refused(f"{fault} The request is still open: try again in a moment.") from fault
        return MESSAGES[State(row.state)]


ByKind = by("kind", **{kind.value: (str(kind.label), Q(kind=kind)) for kind in Kind})


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(DecidedByAnother):
    merchant_lookup = "merchant"
    proposal = RequestedChange()
    list_display = ("created", "shown_state", "shown_kind", "shown_merchant", "reason", "proposed_by", "decided_by")
    list_filter = (ByTurn, one_of("state", State.values), ByKind, "created_at")
    list_select_related = ("merchant", "proposed_by", "decided_by")
    search_fields = ("reason", "note", "merchant__title")
    change_list_template = "admin/payments/approvalrequest/change_list.html"
    uuid_lookups = {
        "": ("pk", "subject_id"),
        "mer": ("merchant_id",),
        "key": ("subject_id",),
        "pac": ("subject_id",),
    }
    fieldsets = (
        (None, {"fields": ("shown_state", "what_next", "shown_kind", "shown_merchant")}),
        ("Requested", {"fields": ("asked_for", "reason", "proposed_by", "created", "expires")}),
        ("Decided", {"fields": ("note", "decided_by", "decided", "updated")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("merchant", "proposed_by", "decided_by")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        ours = [
            path("waiting/", view(self.waiting), name="payments_approvalrequest_waiting"),
            path("<uuid:pk>/take/", view(self.take), name="payments_approvalrequest_take"),
        ]
        return [*ours, *super().get_urls()]

    def waiting(self, request: HttpRequest) -> HttpResponse:
        """Return the page of everything that waits for approval."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return waiting_page(request, self)

    @method_decorator([never_cache, require_POST])
    def take(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Create an approved key and show its text once, to its requester alone."""
        row, operator = get_object_or_404(self.get_queryset(request), pk=pk), operator_of(request)
        if row.kind not in ApprovalRequest.KEYS or not operator.has_perm(PERMISSIONS[Kind(row.kind)]):
            raise PermissionDenied
        page = reverse("admin:payments_approvalrequest_change", args=[pk])
        try:
            name, text = decisions.take_key(row, operator)
        except Refused as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
            return redirect(page)
        return shown_once(request, self, f"{row}", {"Shown as": name, "Key": text}, page)

    def buttons_of(self, request: HttpRequest, row: ApprovalRequest) -> list[ActionButton]:
        acts = super().buttons_of(request, row)
        if row.state != State.APPROVED or row.proposed_by_id != operator_of(request).pk:
            return acts
        take = reverse("admin:payments_approvalrequest_take", args=[row.pk])
        withdraw = reverse("admin:payments_approvalrequest_decide", args=[row.pk])
        return [
            *acts,
            ActionButton("Take the key: it is shown once", take, posts=True),
            ActionButton("Withdraw the request", withdraw),
        ]

    @admin.display(description="Merchant")
    def shown_merchant(self, row: ApprovalRequest) -> SafeString | str:
        return link(Merchant, row.merchant_id, row.merchant.title)

    @admin.display(description="State")
    def shown_state(self, row: ApprovalRequest) -> SafeString:
        return chip(row.state, CHIPS.get(State(row.state), "quiet"))

    @admin.display(description="What is next")
    def what_next(self, row: ApprovalRequest) -> str:
        match row.state:
            case State.PROPOSED if not has_approver(row.proposed_by, row.merchant):
                return NOBODY_ELSE
            case State.PROPOSED:
                return f"Another person approves or declines it by {utc(row.expires_at)} UTC."
            case State.APPROVED:
                return f"{row.proposed_by} takes the key by {utc(row.expires_at)} UTC. It is made when it is taken."
            case State.DONE:
                return "Nothing: it is done."
            case _:
                return "Nothing: it was not done."

    @admin.display(description="Kind")
    def shown_kind(self, row: ApprovalRequest) -> str:
        return row.get_kind_display()

    @admin.display(description="Asked for")
    def asked_for(self, row: ApprovalRequest) -> SafeString | str:
        return lines(format_html("{}: {}", name, value) for name, value in changes_of(row))

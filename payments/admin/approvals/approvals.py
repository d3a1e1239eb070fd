"""Requests for approval of changes, and the page of everything that waits for approval."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.approvals.forms import NO_OTHER_APPROVER, has_approver
from payments.admin.approvals.words import changes_of, consequence_of, facts_of, merchant_of, short_words
from payments.admin.framework.actions import Action, Done, Result
from payments.admin.framework.filters import by, one_of
from payments.admin.framework.formats import column, lines
from payments.admin.framework.id_search import IdSearch
from payments.admin.framework.object_actions import (
    Facts,
    operator_of,
)
from payments.admin.operators.decisions import Decide, DecidedByAnother
from payments.admin.operators.requests import ByTurn
from payments.admin.shown_times import moment_text
from payments.domain.approvals import decide
from payments.domain.catalogue.refusal_texts import translated
from payments.domain.operators.four_eyes import Refused
from payments.inbox.decisions import MAY_DECIDE, MAY_SEE
from payments.models import ApprovalRequest
from payments.models.operators.approval_request import SHOWN_AS

# The most rows shown of each kind; their own lists have the others.
SHOWN_MAX = 100
Kind, State = ApprovalRequest.Kind, ApprovalRequest.State
SENT: dict[str, str] = {
    Kind.PAY_OUT: "admin:payments_payout_change",
    Kind.SEND_FILE: "admin:payments_payoutfile_change",
    Kind.FILE_LAYOUT: "admin:payments_filelayout_change",
}
MESSAGES = {
    State.APPROVED: (messages.SUCCESS, _("Approved. The requester takes the key, which is made then.")),
    State.DONE: (messages.SUCCESS, _("Approved and done.")),
    State.REJECTED: (messages.SUCCESS, _("Rejected. Nothing was changed.")),
    State.WITHDRAWN: (messages.SUCCESS, _("Withdrawn. Nothing was changed.")),
}


def waiting_page(request: HttpRequest, page: admin.ModelAdmin) -> TemplateResponse:
    """Return the page of waiting requests, oldest first: to be decided by the operator, their own, and others."""
    rows = sorted(_waiting(request, page.admin_site), key=attrgetter("created_at"))
    mine = [row for row in rows if row.proposed_by_id == operator_of(request).pk]
    decided_here = [row for row in rows if row.step == "decide"]
    context = page.admin_site.each_context(request) | {
        "title": _("Waiting for approval"),
        "opts": page.opts,
        "media": page.media,
        "sections": [
            (_("For you to decide"), decided_here, _("Nothing waits for you.")),
            (
                _("Approved keys for you to take"),
                [row for row in mine if row.state == State.APPROVED],
                _("No key waits for you."),
            ),
            (
                _("Yours, for somebody else to decide"),
                [row for row in mine if row.state == State.PROPOSED],
                _("None of your requests waits."),
            ),
            (
                _("For others to decide"),
                [row for row in rows if row.step != "decide" and row.proposed_by_id != operator_of(request).pk],
                _("Nothing else waits."),
            ),
        ],
    }
    return TemplateResponse(request, "admin/payments/approvalrequest/waiting.html", context)


def _waiting(request: HttpRequest, site: admin.AdminSite) -> Iterator[Any]:
    """Yield the rows that wait for a decision or for their key to be taken, each with its words and the next step."""
    operator = operator_of(request)
    waits = Q(state=State.PROPOSED) | Q(state=State.APPROVED, kind__in=ApprovalRequest.KEYS, proposed_by=operator)
    for model in filter(site.is_registered, SHOWN_AS):
        own: Any = site.get_model_admin(model)
        rows = own.get_queryset(request).filter(waits) if own.has_view_permission(request) else model.objects.none()
        found = list(rows.select_related(*own.list_select_related).order_by("pk")[:SHOWN_MAX])
        own.complete(found)
        for row in found:
            decides = row.proposed_by_id != operator.pk and operator.has_perm(MAY_DECIDE[row.kind])
            row.step, row.in_words = "decide" if decides else "change", own.in_words(row)
            row.address = reverse(f"admin:{own.opts.app_label}_{own.opts.model_name}_{row.step}", args=[row.pk])
            yield row


KINDS = [Kind(kind) for kind in ApprovalRequest.KINDS]
ByKind = by("kind", **{kind.value: (kind.label, Q(kind=kind)) for kind in KINDS})
STATES = [state.value for state in State if state != State.REFUSED]


class TakeKey(Action):
    """Create an approved key and show its text once, to its requester alone."""

    name, label = "take", _("Take the key: it is shown once")
    asks_nothing = for_merchants = True

    def is_allowed(self, page: Any, request: HttpRequest) -> bool:
        """Return True: which permission it needs is the kind's."""
        return True

    def find(self, page: Any, request: HttpRequest, pk: Any) -> Any:
        row = super().find(page, request, pk)
        if row.kind not in ApprovalRequest.KEYS or not operator_of(request).has_perm(ApprovalRequest.KEYS[row.kind]):
            raise PermissionDenied
        return row

    def fits(self, row: ApprovalRequest) -> bool:
        return row.state == State.APPROVED

    def is_offered_to(self, operator: User, row: ApprovalRequest) -> bool:
        return row.proposed_by_id == operator.pk

    def do(self, row: ApprovalRequest, cleaned: dict[str, Any]) -> Done:
        try:
            name, text = decide.take_key(row, cleaned["operator"])
        except Refused as refusal:
            return Result(translated(str(refusal)), level=messages.ERROR)
        return Result(f"{row}", secrets={_("Shown as"): name, _("Key"): text})


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(DecidedByAnother):
    for_merchants = "what reason proposed_by decided_by shown_state shown_kind what_next asked_for note turn state kind"
    views = {
        "payments_approvalrequest_waiting": ("waiting/", "waiting"),
    }
    row_actions = (TakeKey(), Decide(MAY_SEE))
    list_display = ("what", "reason", "merchant", "proposed_by", "decided_by", "shown_state", "created")
    file_columns = ("created", "shown_state", "shown_kind", "shown_merchant", "reason", "proposed_by", "decided_by")
    list_filter = (ByTurn, one_of("state", STATES), ByKind, "created_at")
    search_fields = ("reason", "note", "merchant__title")
    change_list_template = "admin/payments/approvalrequest/change_list.html"
    search = IdSearch(
        {"": "pk subject_id", "mer": "merchant_id", **dict.fromkeys(("key", "pac", "po", "pf"), "subject_id")}
    )
    fieldsets = (
        (None, {"fields": ("shown_state", "what_next", "shown_kind", "shown_merchant")}),
        (_("Requested"), {"fields": ("asked_for", "reason", "proposed_by", "created", "expires")}),
        (_("Decided"), {"fields": ("note", "decided_by", "decided", "updated")}),
    )
    shown_merchant = column(_("Merchant"), merchant_of)
    shown_kind = column(_("Kind"), lambda row: row.get_kind_display())
    asked_for = column(
        _("Asked for"), lambda row: lines(format_html("{}: {}", name, value) for name, value in changes_of(row))
    )

    messages = MESSAGES

    def mode_of(self, row: ApprovalRequest) -> str:
        """Return `live`: in test mode none of these needs approval."""
        return "live"

    def consequence_of(self, row: ApprovalRequest) -> Any:
        return consequence_of(row)

    def facts_of(self, row: ApprovalRequest) -> Facts:
        return facts_of(row)

    def in_words(self, row: ApprovalRequest) -> str:
        return short_words(row)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(kind__in=ApprovalRequest.KINDS)

    def page_after(self, row: Any) -> str:
        """Return the address of what went out by an approval, and that of the request otherwise."""
        sent = SENT.get(row.kind) if isinstance(row, ApprovalRequest) and row.state == State.DONE else None
        return reverse(sent, args=[row.subject_id]) if sent else super().page_after(row)

    def waiting(self, request: HttpRequest) -> HttpResponse:
        """Return the page of everything that waits for approval."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return waiting_page(request, self)

    @admin.display(description=_("What is next"))
    def what_next(self, row: ApprovalRequest) -> Any:
        time = moment_text(row.expires_at)
        match row.state:
            case State.PROPOSED if MAY_DECIDE[row.kind] != ApprovalRequest.MAY_DECIDE:
                return f"Another operator approves or rejects it by {time}."
            case State.PROPOSED if not has_approver(row.proposed_by, row.merchant):
                return NO_OTHER_APPROVER
            case State.PROPOSED:
                return gettext("Another administrator approves or rejects it by {time}.").format(time=time)
            case State.APPROVED:
                text = gettext("{person} takes the key by {time}. It is made when it is taken.")
                return text.format(person=row.proposed_by, time=time)
            case State.DONE:
                return _("Nothing: it is done.")
            case State.REFUSED | State.REJECTED | State.WITHDRAWN | State.EXPIRED | State.OVERTAKEN:
                return _("Nothing: it was not done.")
            case unknown:
                raise ValueError(unknown)

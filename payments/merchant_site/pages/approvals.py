"""What one of the merchant's people requests and another decides, or kaha's staff."""

from copy import copy
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.approvals.approvals import STATES, ApprovalRequestAdmin
from payments.admin.columns import WITH_PAYER
from payments.admin.framework.filters import by, one_of
from payments.admin.framework.formats import column
from payments.admin.framework.object_actions import Consequence, operator_of
from payments.admin.moments import moment_text
from payments.admin.operators.assistant_calls import AssistantCallAdmin
from payments.admin.operators.decisions import DecidedByAnother
from payments.admin.operators.requests import ByTurn, OperatorActionAdmin
from payments.admin.operators.words import Message, in_few_words, result
from payments.inbox.decisions import OF_MERCHANTS, seen_kinds
from payments.merchant_site.pages.base import OfMerchant
from payments.merchant_site.site import merchant_site
from payments.models import ApprovalRequest, AssistantCall, OperatorAction

Kind, State = ApprovalRequest.Kind, ApprovalRequest.State
STAFF = _("kaha's staff")
PEOPLE = ("proposed_by", "decided_by")
NEW_ACCOUNT = _(
    "From 24 hours after the approval all that you earn goes to this account. Compare it with a paper of your bank, "
    "not with a message."
)

ByKind = by(
    "kind", **{kind: (Kind(kind).label, Q(kind=kind)) for kind in OF_MERCHANTS if kind in ApprovalRequest.KINDS}
)


class Decided(OfMerchant, DecidedByAnother):
    """Requests with their people, of whom those who are no colleagues are kaha's staff."""

    list_select_related: ClassVar[Any] = ("merchant", *WITH_PAYER)
    # A search in the notes would find what the staff write.
    search_fields: ClassVar[Any] = ("reason",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # A join would leave out the requests of the staff, who are behind the wall.
        rows = super().get_queryset(request).select_related(None)
        return rows.filter(kind__in=seen_kinds(operator_of(request))).select_related("merchant")

    def complete(self, rows: Any) -> None:
        super().complete(rows)
        ids = {getattr(row, f"{name}_id") for row in rows for name in PEOPLE}
        colleagues = User.objects.filter(is_staff=False).in_bulk(filter(None, ids))
        for row in rows:
            for name in PEOPLE:
                if pk := getattr(row, f"{name}_id"):
                    setattr(row, name, colleagues.get(pk) or User(pk=pk, username=str(STAFF)))
            # What the staff write about their decisions is the service's.
            if row.decided_by_id and row.decided_by_id not in colleagues:
                row.note = ""

    def shown(self, row: Any) -> Any:
        self.complete(rows := [copy(row)])
        return rows[0]


@admin.register(ApprovalRequest, site=merchant_site)
class MerchantApprovals(Decided, ApprovalRequestAdmin):
    """Requests for keys and bank accounts."""

    list_filter: ClassVar[Any] = (ByTurn, one_of("state", STATES), ByKind, "created_at")

    def consequence_of(self, row: ApprovalRequest) -> Consequence:
        return Consequence(NEW_ACCOUNT) if row.kind == Kind.ADD_PAYOUT_ACCOUNT else super().consequence_of(row)

    @admin.display(description=_("What is next"))
    def what_next(self, row: ApprovalRequest) -> Any:
        if row.state == State.PROPOSED:
            text = gettext("Another owner or kaha's staff approves or rejects it by {time}.")
            return text.format(time=moment_text(row.expires_at))
        return super().what_next(row)


@admin.register(OperatorAction, site=merchant_site)
class MerchantActions(Decided, OperatorActionAdmin):
    """Actions on charges that the merchant's people asked for, decided by another or done alone."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(proposed_by__is_staff=False)

    def result(self, row: OperatorAction) -> Message:
        return in_words(row)

    how_it_went = column(_("How it went"), lambda act: in_words(act)[1])


@admin.register(AssistantCall, site=merchant_site)
class MerchantCalls(Decided, AssistantCallAdmin):
    """What the merchant's assistants asked for, decided by one of its people or let through by a key's rule."""


def in_words(act: OperatorAction) -> Message:
    """Return the result of an action; one that is not known is being looked up."""
    is_known = act.state != State.DONE or (act.attempt and not act.attempt.is_unresolved)
    text = gettext("Being looked up with the bank: {what}.")
    return result(act) if is_known else (messages.WARNING, text.format(what=in_few_words(act)))

"""What one of the merchant's people requests and another decides, or kaha's staff."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from payments.admin.approvals.approvals import STATES, ApprovalRequestAdmin
from payments.admin.columns import WITH_PAYER
from payments.admin.framework.filters import by, one_of
from payments.admin.framework.formats import column
from payments.admin.operators.assistant_calls import AssistantCallAdmin
from payments.admin.operators.requests import ByTurn, OperatorActionAdmin
from payments.admin.operators.words import Message, in_few_words, result
from payments.admin.shown_times import moment_text
from payments.inbox.decisions import OF_MERCHANTS
from payments.merchant_site.policy import OF_REQUESTS, on_merchant_site
from payments.models import ApprovalRequest, AssistantCall, OperatorAction

Kind, State = ApprovalRequest.Kind, ApprovalRequest.State
# A search in the notes would find what the staff write, and a join would leave out their requests.
SEARCHED: Any = {"search_fields": ("reason",), "list_select_related": ("merchant", *WITH_PAYER)}
NEW_ACCOUNT = _(
    "From 24 hours after the approval all that you earn goes to this account. Compare it with a paper of your bank, "
    "not with a message."
)

ByKind = by(
    "kind", **{kind: (Kind(kind).label, Q(kind=kind)) for kind in OF_MERCHANTS if kind in ApprovalRequest.KINDS}
)


@on_merchant_site(ApprovalRequest, OF_REQUESTS, **SEARCHED)
class MerchantApprovals(ApprovalRequestAdmin):
    """Requests for keys and bank accounts."""

    list_filter: ClassVar[Any] = (ByTurn, one_of("state", STATES), ByKind, "created_at")

    def consequence_of(self, row: ApprovalRequest) -> Any:
        return NEW_ACCOUNT if row.kind == Kind.ADD_PAYOUT_ACCOUNT else super().consequence_of(row)

    @admin.display(description=_("What is next"))
    def what_next(self, row: ApprovalRequest) -> Any:
        if row.state == State.PROPOSED:
            text = gettext("Another owner or kaha's staff approves or rejects it by {time}.")
            return text.format(time=moment_text(row.expires_at))
        return super().what_next(row)


@on_merchant_site(OperatorAction, OF_REQUESTS, **SEARCHED)
class MerchantActions(OperatorActionAdmin):
    """Actions on charges that the merchant's people asked for, decided by another or done alone."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(proposed_by__is_staff=False)

    def result(self, row: OperatorAction) -> Message:
        return in_words(row)

    how_it_went = column(_("How it went"), lambda act: in_words(act)[1])


on_merchant_site(AssistantCall, OF_REQUESTS, **SEARCHED)(AssistantCallAdmin)


def in_words(act: OperatorAction) -> Message:
    """Return the result of an action; one that is not known is being looked up."""
    is_known = act.state != State.DONE or (act.attempt and not act.attempt.is_unresolved)
    text = gettext("Being looked up with the bank: {what}.")
    return result(act) if is_known else (messages.WARNING, text.format(what=in_few_words(act)))

"""What operators do about one payout."""

from collections import Counter
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.approvals.words import payout_facts
from payments.admin.framework.actions import DECISION, Action, Done, OnChosen, Result
from payments.admin.framework.formats import NOTHING, lines, money
from payments.admin.framework.object_actions import Facts, operator_of
from payments.admin.framework.reason_form import OnceForm, ReasonForm
from payments.admin.operators.bulk_actions import said_left_out, sums_of
from payments.admin.reconciliation.bank import MAY_RECORD
from payments.domain.approvals import decide, payouts
from payments.domain.approvals.kinds.payouts import Outcome, outcomes_of
from payments.domain.operators.four_eyes import Refused
from payments.inbox.decisions import MAY_DECIDE
from payments.models import ApprovalRequest, Payout
from payments.vault import VaultUnavailable

MAY_APPROVE = MAY_DECIDE[ApprovalRequest.Kind.PAY_OUT]
APPROVED = "Approved. It goes out with the next bank file, or by its provider."
HALF_APPROVED = "You do not approve it alone, so your approval counts as the request. Another operator approves it."
OUTCOME_LABELS = {Outcome.PAID: "paid: our bank has paid it", Outcome.RETURNED: "returned: the money came back"}


class OnPayout(Action):
    refusals: tuple[type[Exception], ...] = (Refused,)

    def question(self, payout: Payout) -> str:
        return f"{self.label}: {money(payout.amount, payout.currency)} to {payout.merchant.title}"

    def facts(self, payout: Payout) -> Facts:
        yield "Merchant", payout.merchant.title
        yield from payout_facts(payout)
        yield "Asked for by", payout.requested_by or "its schedule"


class ApprovePayout(OnPayout):
    name, label = "approve", "Approve the payout"
    permission = MAY_APPROVE
    asks_password = True
    over = "This payout does not wait for approval."
    warning = "Real money leaves for this bank account. It cannot be called back once it is sent."

    def fits(self, payout: Payout) -> bool:
        return payout.waits_for_approval

    def is_offered_to(self, operator: User, payout: Payout) -> bool:
        return bool(payouts.approvable([payout], operator))

    def do(self, payout: Payout, cleaned: dict[str, Any]) -> Done:
        return APPROVED if decide.approve_or_ask(payout, cleaned["operator"], cleaned["reason"]) else HALF_APPROVED


class ApproveTogether(OnChosen):
    """Of several payouts, each by itself, so that one that was changed meanwhile stops no other."""

    name, label = "approve_together", "Approve the payouts"
    permission = MAY_APPROVE
    form = OnceForm
    asks_password = True
    warning = "Real money leaves for these bank accounts. It cannot be called back once it is sent."

    def fits(self, row: Payout) -> bool:
        return row.waits_for_approval

    def possible(self, page: Any, request: HttpRequest, rows: QuerySet[Any]) -> Any:
        chosen = super().possible(page, request, rows.select_related("merchant", "account"))
        if not chosen:
            return None
        found = payouts.approvable(chosen, operator_of(request))
        if not found and DECISION not in request.POST:
            page.message_user(request, "None of these waits for your approval.", messages.ERROR)
            return None
        return chosen, found

    def question(self, row: Any) -> str:
        return f"{self.label}: {len(row[1])}"

    def facts(self, row: Any) -> Facts:
        chosen, found = row
        yield "To be approved", sums_of(found)
        yield (
            "Which",
            lines(f"{money(each.amount, each.currency)} to {each.merchant}, {each.account}" for each in found),
        )
        yield "Left out", len(chosen) - len(found) or NOTHING

    def do(self, row: Any, cleaned: dict[str, Any]) -> Done:
        done: Counter[bool] = Counter()
        left_out = []
        for payout in row[0]:
            try:
                done[decide.approve_or_ask(payout, cleaned["operator"], cleaned["reason"])] += 1
            except Refused as refusal:
                left_out.append(f"{payout}: {refusal}")
        above = f"Above your approval limit: {done[False]}. Another operator approves them." if done[False] else ""
        warning = " ".join(filter(None, (above, said_left_out(left_out))))
        return Result(f"Approved: {done[True]}." if done[True] else "", warning=warning)


class CancelPayout(OnPayout):
    name, label = "cancel", "Cancel the payout"
    permission = "payments.cancel_payout"
    over = "This payout cannot be cancelled any more."
    warning = "It is not sent, and the merchant's balance has the money again: the next payout takes it."

    def fits(self, payout: Payout) -> bool:
        return payout.status == Payout.Status.PENDING

    def do(self, payout: Payout, cleaned: dict[str, Any]) -> Done:
        payouts.cancel(payout)
        return "Cancelled. The merchant's balance has the money again."


class OutcomeForm(ReasonForm):
    status = forms.ChoiceField(label="What the bank did")

    def __init__(self, data: Any, payout: Payout) -> None:
        super().__init__(data)
        chosen: Any = self.fields["status"]
        chosen.choices = [(outcome.value, OUTCOME_LABELS[outcome]) for outcome in outcomes_of(payout)]


class RecordPayout(OnPayout):
    name, label = "record", "Record what the bank did"
    permission = MAY_RECORD
    refusals = (Refused, VaultUnavailable)
    over = "Nothing can be recorded of this payout now."

    def fits(self, payout: Payout) -> bool:
        return payout.livemode and bool(outcomes_of(payout))

    def form_for(self, payout: Payout, data: Any) -> ReasonForm:
        return OutcomeForm(data, payout)

    def notice(self, payout: Payout, operator: User) -> Any:
        text = (
            "Only our bank knows how a payout of a bank file ended, so an administrator other than you must approve "
            "the record."
        )
        return approval_notice(text, operator, payout.merchant)

    def do(self, payout: Payout, cleaned: dict[str, Any]) -> Done:
        asked, before = {"status": cleaned["status"]}, {"status": payout.status}
        return submitted(payout.merchant, ApprovalRequest.Kind.RECORD_PAYOUT, cleaned, asked, before, payout.id)

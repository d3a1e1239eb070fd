"""Approval of many payouts, chosen from their list."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from payments.admin.framework.formats import NOTHING, lines, money
from payments.admin.framework.object_actions import Consequence, form_page, operator_of
from payments.admin.operators.bulk_actions import CONFIRMED, MOST, BulkForm
from payments.admin.payouts.actions import MAY_APPROVE
from payments.context import because
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import approve
from payments.models import Payout

# The most payouts left out that the message names.
SHOWN = 10
NAME, LABEL = "approve_together", "Approve the payouts"


class BulkApproval(admin.ModelAdmin):
    """The approval offered above the list of payouts."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {NAME: (_approve, NAME, LABEL)} if operator_of(request).has_perm(MAY_APPROVE) else {}


def _approve(page: admin.ModelAdmin, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
    """Show what would be approved and ask why; then approve each."""
    payouts = list(rows.select_related("merchant", "account", "requested_by")[: MOST + 1])
    if len(payouts) > MOST:
        page.message_user(request, f"These are more than {MOST}. Choose fewer at once.", messages.ERROR)
        return None
    operator = operator_of(request)
    form = BulkForm(request.POST if "row_id" in request.POST else None, NAME, [str(payout.pk) for payout in payouts])
    if form.is_valid() and request.POST.get("decision") == CONFIRMED:
        with because(form.cleaned_data["reason"]):
            return _approve_each(page, request, payouts)
    waiting = [payout for payout in payouts if approve.waits_for_approval(payout)]
    possible = [payout for payout in waiting if payout.requested_by_id != operator.pk]
    if not possible:
        page.message_user(request, "None of these waits for your approval.", messages.ERROR)
        return None
    facts = [
        ("To be approved", _sum(possible)),
        ("Which", lines(map(_line, possible))),
        ("Left out", len(payouts) - len(possible) or NOTHING),
    ]
    consequence = Consequence("Real money leaves for these bank accounts. It cannot be called back once it is sent.")
    title = f"{LABEL}: {len(possible)}"
    return form_page(request, page, title, facts, form, [(CONFIRMED, LABEL)], consequence)


def _approve_each(page: admin.ModelAdmin, request: HttpRequest, payouts: Sequence[Payout]) -> HttpResponse:
    """Approve each by itself, so that one that was changed meanwhile stops no other."""
    done: Counter[bool] = Counter()
    left_out = []
    for payout in payouts:
        try:
            done[approve.approve(payout, operator_of(request))] += 1
        except Refused as refusal:
            left_out.append(f"{payout}: {refusal}")
    if done[True]:
        page.message_user(request, f"Approved: {done[True]}.", messages.SUCCESS)
    if done[False]:
        text = f"Above your approval limit: {done[False]}. Another operator approves them."
        page.message_user(request, text, messages.WARNING)
    if left_out:
        page.message_user(request, f"Left out: {len(left_out)}. {' '.join(left_out[:SHOWN])}", messages.WARNING)
    return HttpResponseRedirect(reverse("admin:payments_payout_changelist"))


def _line(payout: Payout) -> str:
    return f"{money(payout.amount, payout.currency)} of {payout.merchant} to {payout.account}: {payout}"


def _sum(payouts: Iterable[Payout]) -> str:
    sums: Counter[str] = Counter()
    for payout in payouts:
        sums[payout.currency] += payout.amount
    return ", ".join(money(amount, currency) for currency, amount in sorted(sums.items()))

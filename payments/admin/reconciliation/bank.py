"""Our bank accounts and how they stand, and what operators do about movements on them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from payments.admin.approvals.forms import approval_notice, submitted
from payments.admin.form_fields import WholeNumberField
from payments.admin.framework.actions import Action, Done
from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.formats import NOTHING, column, lines, link, money
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.domain.approvals.kinds.payouts import Outcome, outcomes_of
from payments.domain.operators.four_eyes import Refused
from payments.domain.reconciliation.bank import balances, line_matcher, reasons
from payments.domain.reconciliation.items import TooLate
from payments.inbox import entry_texts
from payments.models import (
    ApprovalRequest,
    BankLine,
    OwnBankAccount,
    Payout,
    PayoutFile,
    ReconciliationItem,
    ReconciliationRun,
    ReportLine,
)
from payments.money import CURRENCIES, DEFAULT_CURRENCY
from payments.providers.registry import CONNECTORS, PROVIDERS

SHOWN_STATEMENTS = 20
MAY_CLOSE, MAY_RECORD = "payments.close_reconciliationitem", "payments.record_payout"
PROVIDER_NAMES = sorted({*PROVIDERS, *CONNECTORS})
Item = ReconciliationItem


def at_bank(found: Any) -> SafeString | str:
    """Return on which days what `found` has of matched movements left our bank, arrived there or came back."""
    booked = [each.line for each in found.filter(line__matched_at__isnull=False).select_related("line").order_by("pk")]
    return lines(link(ReportLine, line.pk, f"{moved(line)} on {line.booked_at:%d %b %Y}") for line in booked)


def of_payout(payout: Payout) -> Q:
    """Return the movements on our account that are a payout, or the bank file that it is in."""
    return Q(payout=payout.pk) | Q(file__isnull=False, file=payout.file_id)


def moved(line: ReportLine) -> str:
    """Return what our bank says moved, with its reason for a return."""
    why = f" ({reasons.in_words(line.word)})" if line.word else ""
    return f"{'received' if line.amount > 0 else 'paid'} {money(abs(line.amount), line.currency)}{why}"


def what_it_is(line: ReportLine) -> SafeString | str:
    """Return a link to what a movement on our account is, or perhaps is."""
    bank: BankLine | None = getattr(line, "bank", None)
    if not bank or not (words := line_matcher.what_is(bank)):
        return NOTHING
    model: Any = Payout if bank.payout_id else PayoutFile if bank.file_id else ReportLine
    return link(model, bank.payout_id or bank.file_id or bank.batch_id, f"perhaps {words}" if bank.is_guess else words)


def text_of(line: ReportLine | None) -> str:
    """Return what the bank wrote beside a movement; "" of a provider's line."""
    bank: BankLine | None = getattr(line, "bank", None)
    return bank.text if bank else ""


class OnMovement(Action):
    def about(self, item: Item) -> Facts:
        if item.line:
            yield "By the bank", moved(item.line)
            yield "What it is", what_it_is(item.line)
            yield "Text of the bank", text_of(item.line) or NOTHING


class SuspicionForm(ReasonForm):
    """With what the person has seen: until the form is sent, another payment may become more likely."""

    shown = forms.CharField(widget=forms.HiddenInput)


class ConfirmSuspicion(OnMovement):
    """By a person, who has looked at the bank's own papers."""

    name, label, button = "confirm", "Confirm the match", "It is"
    permission = MAY_CLOSE
    too_late = {TooLate: "It is decided, matched or another suspicion by now. Look at it again."}
    over = "It is decided or matched already."
    what_happens = "The two are matched, as if the bank had named it. No payout is changed."

    def form_for(self, item: Item, data: Any) -> SuspicionForm:
        return SuspicionForm(data, initial={"shown": line_matcher.key_of(item.line.bank)})  # type: ignore[union-attr]

    def fits(self, item: Item) -> bool:
        return (item.kind, item.state, item.vanished_at) == (Item.Kind.SUSPECTED, Item.State.OPEN, None)

    def do(self, item: Item, cleaned: dict[str, Any]) -> Done:
        line_matcher.confirm(item, cleaned["shown"], cleaned["operator"], cleaned["reason"])
        return "Matched."


class MarkReturned(OnMovement):
    """Of the payout that came back: a request, as on the payout's own page."""

    name, label = "mark_returned", "Mark as returned"
    permission = MAY_RECORD
    refusals = (Refused,)
    over = "The ledger has it as returned, or it did not come back whole."
    what_happens = "The merchant's balance has the money again, once an administrator other than you approves."

    def fits(self, item: Item) -> bool:
        if item.kind != Item.Kind.RETURNED or item.vanished_at or not item.line:
            return False
        payout: Any = item.line.bank.payout
        return item.line.amount == payout.amount and Outcome.RETURNED in outcomes_of(payout)

    def notice(self, item: Item, operator: Any) -> Any:
        return approval_notice("An administrator other than you must approve it.", operator)

    def do(self, item: Item, cleaned: dict[str, Any]) -> Done:
        payout: Any = item.line.bank.payout  # type: ignore[union-attr] # it fits
        kind, asked = ApprovalRequest.Kind.RECORD_PAYOUT, {"status": Outcome.RETURNED.value}
        return submitted(payout.merchant, kind, cleaned, asked, {"status": payout.status}, payout.id)


class OwnBankAccountForm(forms.ModelForm):
    currency = forms.ChoiceField(choices=[(code, code) for code in sorted(CURRENCIES)], initial=DEFAULT_CURRENCY)
    providers = forms.MultipleChoiceField(
        choices=[(name, name) for name in PROVIDER_NAMES], required=False, label="Providers that pay to it"
    )
    days = WholeNumberField(
        min_value=1, max_value=60, initial=5, help_text="In so many days a payment leaves or arrives, or it is late."
    )

    class Meta:
        model = OwnBankAccount
        fields = ("name", "currency", "last4", "providers", "days")
        labels = {"last4": "Last 4 of its number"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Runs, lines and items have the name.
        for name in {"name", "currency"} & self.fields.keys():
            self.fields[name].disabled = bool(self.instance.pk)

    def clean_name(self) -> str:
        if (name := self.cleaned_data["name"]) in PROVIDER_NAMES:
            raise forms.ValidationError("It is the name of a provider.")
        return str(name)

    def clean_providers(self) -> list[str]:
        if len(names := self.cleaned_data["providers"]) > 1 and "simulator" in names:
            raise forms.ValidationError("An account that the simulator pays is of test mode, and no other pays to it.")
        return list(names)


@admin.register(OwnBankAccount)
class OwnBankAccountAdmin(BaseAdmin):
    is_edited = True
    merchant_lookup = None
    key_converter = "int"
    form = OwnBankAccountForm
    list_display = ("name", "currency", "last4", "days")
    search_fields = ("name",)
    search_help_text = "A part of the name."
    readonly_fields = ("stands", "late", "chain", "statements")
    stands = column("How it stands", lambda account: lines(_standing(account)))
    late = column("Late", lambda account: lines(map(entry_texts.late_words, balances.late(account))))
    chain = column("Gaps and overlaps", lambda account: lines(_chain(account)))
    statements = column("Statements", lambda account: lines(_statements(account)))

    def get_fieldsets(self, request: HttpRequest, obj: OwnBankAccount | None = None) -> Any:
        known = (("By its statements", {"fields": self.readonly_fields}),) if obj else ()
        return ((None, {"fields": OwnBankAccountForm.Meta.fields}), *known)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _standing(account: OwnBankAccount) -> Any:
    if found := balances.standing_of(account):
        address = reverse("admin:payments_reconciliationitem_changelist")
        query = f"?difference=stands&provider={account.name}"
        items = format_html('<a href="{}{}">movements without a match</a>', address, query)
        named = [("by the bank", found.by_bank), ("by the ledger", found.by_ledger)]
        named += [("on its way to us", found.arriving), ("on its way out", -found.leaving), (items, found.unmatched)]
        for name, amount in (*named, ("not explained", found.unexplained)):
            yield format_html("{}: {}", name, money(amount, account.currency))


def _chain(account: OwnBankAccount) -> Any:
    for statement, what, amount in balances.breaks(balances.statements_of(account)):
        yield f"{statement}: {what}, {money(amount, account.currency)}"


def _statements(account: OwnBankAccount) -> Any:
    for each in balances.statements_of(account)[: -SHOWN_STATEMENTS - 1 : -1]:
        both = f"{money(each.opening, account.currency)} to {money(each.closing, account.currency)}"
        yield link(ReconciliationRun, each.run_id, f"{each}: {both}")

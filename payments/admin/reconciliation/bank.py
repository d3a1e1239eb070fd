"""Our bank accounts and how they stand, and what operators do about movements on them."""

from collections.abc import Iterator
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
from payments.admin.framework.formats import NOTHING, chip, lines, link, money
from payments.admin.framework.object_actions import Facts
from payments.admin.framework.reason_form import ReasonForm
from payments.admin.shown_times import moment_cell
from payments.admin.timeline.panels import Panel, Row
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
from payments.providers.registry import PROVIDER_NAMES

SHOWN_STATEMENTS = 20
MAY_CLOSE, MAY_RECORD = "payments.close_reconciliationitem", "payments.record_payout"
WITH_WHAT_OF_LINE = ("bank__payout__merchant", "bank__file", "bank__batch")
WITH_WHAT = tuple(f"line__{name}" for name in WITH_WHAT_OF_LINE)
Item = ReconciliationItem


def at_bank(found: Any) -> SafeString | str:
    """Return on which days what `found` has of named movements left our bank, arrived there or came back."""
    booked = [each.line for each in found.filter(is_guess=False).select_related("line").order_by("pk")]
    return lines(link(ReportLine, line.pk, f"{moved(line)} on {line.booked_at:%d %b %Y}") for line in booked)


def of_payout(payout: Payout) -> Q:
    """Return the movements on our account that are a payout, or the bank file that it is in."""
    return Q(payout=payout.pk) | Q(file__isnull=False, file=payout.file_id)


def moved(line: ReportLine) -> str:
    """Return what our bank says moved, with its reason for a return."""
    why = f" ({reasons.in_words(line.word)})" if line.word else ""
    return f"{'received' if line.amount > 0 else 'paid'} {money(abs(line.amount), line.currency)}{why}"


def day_of(line: ReportLine) -> str:
    """Return when a line was booked: banks book on days, whatever the zone of the reader."""
    return f"{line.booked_at:%d %b %Y}" if line.kind == ReportLine.Kind.BOOKED else moment_cell(line.booked_at)


def named(line: ReportLine | None) -> str:
    """Return in words what a movement on our account is, or perhaps is; "" where nobody knows."""
    bank: BankLine | None = getattr(line, "bank", None)
    return line_matcher.what_is(bank) if bank else ""


def what_it_is(line: ReportLine) -> SafeString | str:
    """Return a link to what a movement on our account is, or perhaps is."""
    if not (words := named(line)):
        return NOTHING
    bank: Any = line.bank
    model: Any = Payout if bank.payout_id else PayoutFile if bank.file_id else ReportLine
    words = f"{words}, {money(bank.expected, line.currency)}"
    return link(model, bank.payout_id or bank.file_id or bank.batch_id, words)


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
    change_form_template = "admin/payments/statements/panels.html"

    def headline(self, row: OwnBankAccount) -> str:
        last = balances.statements_of(row)[-1:]
        has = [f"{row} had {money(each.closing, row.currency)} on {each.last_day:%d %b %Y}" for each in last]
        return has[0] if has else super().headline(row)

    def beside_row(self, request: HttpRequest, row: OwnBankAccount) -> dict[str, Any]:
        """Return what is late, how the account stands, and its newest statements."""
        found = {"Late": _late, "After its newest statement": _standing, "Statements": _statements}
        panels = [Panel(title, list(rows(row))) for title, rows in found.items()]
        return super().beside_row(request, row) | {"panels": [panel for panel in panels if panel.rows]}

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _late(account: OwnBankAccount) -> Iterator[Row]:
    for late in balances.late(account):
        kind = ReportLine.Kind.PAYOUT
        address = f"{reverse('admin:payments_reportline_changelist')}?kind__exact={kind}&match=unmatched"
        way = format_html('. <a href="{}">What providers paid</a>', address) if late.what == "batches" else ""
        below = format_html("Since {}{}", f"{late.since:%d %b %Y}", way)
        amount = money(late.total, account.currency) if late.total else ""
        yield Row(entry_texts.late_words(late), below, chip("late", "bad"), amount)


def _standing(account: OwnBankAccount) -> Iterator[Row]:
    if found := balances.standing_of(account):
        address = reverse("admin:payments_reconciliationitem_changelist")
        query = f"?difference=stands&provider={account.name}"
        items = format_html('<a href="{}{}">Movements without a match</a>', address, query)
        ledger = "What it had at first, with what providers paid, without what we sent"
        named = [("By the bank", "", found.by_bank), ("By the ledger", ledger, found.by_ledger)]
        named += [("On its way to us", "Not at the bank yet", -found.arriving)]
        named += [("On its way out", "The bank has it yet", found.leaving), (items, "", found.unmatched)]
        for name, below, amount in (*named, ("Not explained", "", found.unexplained)):
            if amount:
                yield Row(name, below, "", money(amount, account.currency))


def _statements(account: OwnBankAccount) -> Iterator[Row]:
    statements = balances.statements_of(account)
    wrong = {
        each.pk: f": {what}, {money(amount, account.currency)}" for each, what, amount in balances.breaks(statements)
    }
    for each in statements[: -SHOWN_STATEMENTS - 1 : -1]:
        below = f"{each.first_day:%d %b} to {each.last_day:%d %b %Y}{wrong.get(each.pk, '')}"
        state = chip("differs", "bad") if each.pk in wrong else ""
        yield Row(link(ReconciliationRun, each.run_id, each.name), below, state, money(each.closing, account.currency))

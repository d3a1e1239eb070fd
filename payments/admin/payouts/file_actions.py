"""What operators do with a bank file."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from payments import clock
from payments.admin.approvals.words import COMPARE, file_facts
from payments.admin.form_fields import DayField
from payments.admin.framework.actions import DECISION, Action, Done, Result
from payments.admin.framework.formats import lines, link, money
from payments.admin.framework.object_actions import Buttons, Facts
from payments.admin.framework.reason_form import OnceForm
from payments.domain.approvals import decide, payouts
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import files
from payments.domain.payouts.bank_file import BadFile
from payments.domain.payouts.files import Waiting
from payments.inbox.decisions import MAY_DECIDE
from payments.models import ApprovalRequest, Payout, PayoutFile
from payments.vault import VaultUnavailable

MAY_DOWNLOAD = "payments.download_payoutfile"
NO_ANSWER = "The vault does not answer, so nothing was done. Try again in a moment."
SHOWN_PAYOUTS = 100
# Banks take no day that is further away.
MOST_DAYS = 30


class MakeForm(OnceForm):
    """A form for a new file, with the currencies in which payouts wait."""

    currency = forms.ChoiceField()
    execute_on = DayField(
        label="Pay on", help_text="The day on which the bank is asked to pay; banks move it past holidays."
    )

    def __init__(self, data: Any, waiting: list[Waiting]) -> None:
        super().__init__(data, initial={"execute_on": timezone.localdate(clock.now())})
        field: Any = self.fields["currency"]
        field.choices = [(row.currency, row.currency) for row in waiting]

    def clean_execute_on(self) -> date:
        day: date = self.cleaned_data["execute_on"]
        today = timezone.localdate(clock.now())
        if not today <= day <= today + timedelta(days=MOST_DAYS):
            raise forms.ValidationError(f"Choose a day from today to {MOST_DAYS} days from now.")
        return day


class MakeFile(Action):
    """Of what waits for one."""

    name, label = "make", "Make a file"
    permission = "payments.add_payoutfile"
    is_new = is_for_all_merchants = True
    refusals = (Refused, BadFile, VaultUnavailable)
    refused_as = {VaultUnavailable: NO_ANSWER}
    makes = (PayoutFile,)

    def find(self, page: Any, request: HttpRequest, pk: Any) -> list[Waiting]:
        return files.waiting()

    def mode_of(self, row: list[Waiting], form: forms.Form) -> str:
        return "live"

    def form_for(self, row: list[Waiting], data: Any) -> MakeForm:
        return MakeForm(data, row)

    def choices(self, row: list[Waiting], form: forms.Form, operator: User) -> Buttons:
        ways = [("download", "Make and download")] if operator.has_perm(MAY_DOWNLOAD) else []
        return [*ways, (self.name, self.label)] if row else []

    def facts(self, row: list[Waiting]) -> Facts:
        yield "What happens", f"The oldest payouts of a currency go into the file, at most {PayoutFile.MOST:,}."
        for each in row:
            missing = "" if each.has_debtor else f". No account to debit in {each.currency}: set PAYOUT_DEBTOR_ACCOUNTS"
            yield each.currency, f"{each.count:,} approved, {money(each.total, each.currency)}{missing}"
        if not row:
            yield "Approved payouts", "None waits for a file."
        left_out = Payout.objects.left_out().select_related("account").order_by("id")[:SHOWN_PAYOUTS]
        if left_out:
            shown = [link(Payout, payout.pk, f"{payout} to {payout.account}: {payout.obstacle}") for payout in left_out]
            yield "Left out", lines(shown)

    def do(self, row: list[Waiting], cleaned: dict[str, Any]) -> Done:
        asked = (cleaned[name] for name in ("row_id", "currency", "execute_on", "operator", "reason"))
        file = payouts.make_file(*asked)
        made = Result(f"Made: {files.summary(file)}.", file)
        if cleaned[DECISION] != "download" or not cleaned["operator"].has_perm(MAY_DOWNLOAD):
            return made
        # The file exists, even where its download fails.
        try:
            return downloaded(file)
        except (Refused, BadFile) as fault:
            return replace(made, warning=str(fault))
        except VaultUnavailable:
            return replace(made, warning="The vault does not answer. Download it in a moment.")


def downloaded(file: PayoutFile) -> HttpResponse:
    """Return the file; like every page of the admin it is not stored by browsers or proxies."""
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return HttpResponse(files.download(file), content_type="application/xml", headers=headers)


class Download(Action):
    name, label = "download", "Download"
    permission = MAY_DOWNLOAD
    asks_nothing = True

    def fits(self, file: PayoutFile) -> bool:
        return file.cancelled_at is None

    def do(self, file: PayoutFile, cleaned: dict[str, Any]) -> Done:
        try:
            return downloaded(file)
        except (Refused, BadFile) as refusal:
            return Result(str(refusal), level=messages.ERROR)
        except VaultUnavailable:
            return Result(NO_ANSWER, level=messages.ERROR)


class FileAction(Action):
    """An action on a whole file."""

    permission = MAY_DECIDE[ApprovalRequest.Kind.SEND_FILE]
    refusals = (Refused,)
    over = "This is not possible any more: the file was sent or cancelled."

    def fits(self, file: PayoutFile) -> bool:
        return file.is_open

    def facts(self, file: PayoutFile) -> Facts:
        yield from file_facts(file)


class MarkSent(FileAction):
    """By two operators, as every request: who makes a file has asked for it."""

    name, label = "mark_sent", "Mark as sent"
    asks_password = True
    over = "This file is not downloaded yet, or it was sent or cancelled."
    warning = COMPARE

    def fits(self, file: PayoutFile) -> bool:
        return super().fits(file) and file.downloaded_at is not None

    def is_offered_to(self, operator: User, file: PayoutFile) -> bool:
        return not payouts.requests_of(file).filter(proposed_by=operator).exists()

    def do(self, file: PayoutFile, cleaned: dict[str, Any]) -> Done:
        is_sent = decide.approve_or_ask(file, cleaned["operator"], cleaned["reason"])
        return f"Marked as sent: {files.summary(file)}." if is_sent else "Another operator approves it."


class MarkPaid(FileAction):
    name, label = "mark_paid", "Mark as paid"
    over = "No payout of this file is in transit."
    warning = (
        "All its payouts that are still in transit are recorded as paid. Record those that the bank refused or "
        "returned on their own pages first."
    )

    def fits(self, file: PayoutFile) -> bool:
        return file.payouts.filter(status=Payout.Status.IN_TRANSIT).exists()

    def is_offered_to(self, operator: User, file: PayoutFile) -> bool:
        # The verb refuses who made it.
        return file.created_by_id != operator.pk

    def do(self, file: PayoutFile, cleaned: dict[str, Any]) -> Done:
        paid = files.mark_paid(file, cleaned["operator"])
        return f"Marked as paid: {paid} of {file.count}."


class CancelFile(FileAction):
    name, label = "cancel", "Cancel the file"

    def is_offered_to(self, operator: User, file: PayoutFile) -> bool:
        return file.downloaded_at is None or file.created_by_id != operator.pk

    def notice(self, file: PayoutFile, operator: User) -> Any:
        freed = "Its payouts wait for another file."
        if file.downloaded_at is None:
            return freed
        return (
            f"{freed} This file was downloaded: if the bank has it, merchants are paid twice. Only another person than "
            "its maker cancels it."
        )

    def do(self, file: PayoutFile, cleaned: dict[str, Any]) -> Done:
        payouts.cancel_file(file, cleaned["operator"])
        return "Cancelled. Its payouts wait for another file."

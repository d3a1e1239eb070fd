"""What operators do with a bank file."""

from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone

from payments import clock
from payments.admin.form_fields import DayField
from payments.admin.framework.formats import NOTHING, money
from payments.admin.framework.object_actions import Consequence, Facts
from payments.admin.framework.reason_form import OnceForm
from payments.admin.framework.row_actions import Done, RowAction
from payments.admin.moments import moment_text
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import files
from payments.domain.payouts.files import Waiting
from payments.models import Payout, PayoutFile

MAY_SEND = "payments.send_payoutfile"
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


class FileAction(RowAction):
    """An action on a whole file."""

    permission = MAY_SEND
    refusals = (Refused,)
    over = "This is not possible any more: the file was sent or cancelled."

    def fits(self, file: PayoutFile) -> bool:
        return file.is_open

    def facts(self, file: PayoutFile) -> Facts:
        yield "Payouts", file.count
        yield "Sum", money(file.total, file.currency)
        yield "From our account", f"{file.debtor_bic}, ending in {file.debtor_last4}"
        yield "Made by", f"{file.created_by}, {moment_text(file.created_at)}"
        yield "First downloaded", moment_text(file.downloaded_at) if file.downloaded_at else NOTHING


class ByAnother(FileAction):
    """An action of another person than who made the file, whom the verb refuses."""

    def is_offered_to(self, operator: User, file: PayoutFile) -> bool:
        return file.created_by_id != operator.pk


class MarkSent(ByAnother):
    name, label = "mark_sent", "Mark as sent"
    over = "This file is not downloaded yet, or it was sent or cancelled."
    warning = (
        "Compare number and sum with what the bank shows. All payouts are then on their way, and none can be cancelled."
    )

    def fits(self, file: PayoutFile) -> bool:
        return super().fits(file) and file.downloaded_at is not None

    def do(self, file: PayoutFile, cleaned: dict[str, Any]) -> Done:
        files.mark_sent(file, cleaned["operator"])
        return f"Marked as sent: {files.summary(file)}."


class MarkPaid(ByAnother):
    name, label = "mark_paid", "Mark as paid"
    over = "No payout of this file is in transit."
    warning = (
        "All its payouts that are still in transit are recorded as paid. Record those that the bank refused or "
        "returned on their own pages first."
    )

    def fits(self, file: PayoutFile) -> bool:
        return file.payouts.filter(status=Payout.Status.IN_TRANSIT).exists()

    def do(self, file: PayoutFile, cleaned: dict[str, Any]) -> Done:
        paid = files.mark_paid(file, cleaned["operator"])
        return f"Marked as paid: {paid} of {file.count}."


class CancelFile(FileAction):
    name, label = "cancel", "Cancel the file"

    def is_offered_to(self, operator: User, file: PayoutFile) -> bool:
        return file.downloaded_at is None or file.created_by_id != operator.pk

    def notice(self, file: PayoutFile, operator: User) -> Consequence | None:
        freed = "Its payouts wait for another file."
        if file.downloaded_at is None:
            return Consequence(freed)
        return Consequence(
            f"{freed} This file was downloaded: if the bank has it, merchants are paid twice. Only another person than "
            "its maker cancels it."
        )

    def do(self, file: PayoutFile, cleaned: dict[str, Any]) -> Done:
        files.cancel(file, cleaned["operator"])
        return "Cancelled. Its payouts wait for another file."

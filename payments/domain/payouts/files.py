"""Bank files: approved live payouts are taken into one once, which another operator approves as sent.

The content is not stored: it is made of the rows at each download, with the same bytes. So account numbers are opened
for a download only, and are nowhere but with their accounts, where keys are rotated and nothing else has to be deleted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.operators.four_eyes import Refused, refuse_new
from payments.domain.payouts import bank_file, states
from payments.domain.payouts.bank_file import Transfer
from payments.domain.payouts.schedules import number_of
from payments.failpoints import Failpoint, reached
from payments.models import Payout, PayoutFile
from payments.money import shown_amount
from payments.vault import Place, Purpose, seal, unseal, with_prefetched_keys

Status = Payout.Status
TOO_LATE = "Another operator has sent or cancelled this file meanwhile."


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many payouts of a currency wait for a file, what they sum to, and whether we have an account in it."""

    currency: str
    count: int
    total: int
    has_debtor: bool


def waiting() -> list[Waiting]:
    """Return what waits for files, by currency."""
    found = Payout.objects.for_file().values_list("currency").order_by("currency")
    sums = found.annotate(count=Count("id"), total=Sum("amount"))
    debtors = settings.PAYOUT_DEBTOR_ACCOUNTS
    return [Waiting(currency, count, total, currency in debtors) for currency, count, total in sums]


@with_prefetched_keys
@transaction.atomic
def make(file_id: UUID, currency: str, execute_on: date, operator: User) -> PayoutFile:
    """Take the oldest payouts of `currency` that wait, at most PayoutFile.MOST, into a new file.

    Raise Refused where none waits or we have no account in the currency, IntegrityError if the file exists already,
    VaultUnavailable.
    """
    if currency not in settings.PAYOUT_DEBTOR_ACCOUNTS:
        raise Refused(f"There is no account to debit in {currency}: set PAYOUT_DEBTOR_ACCOUNTS and PAYOUT_DEBTOR_NAME.")
    bic, number = settings.PAYOUT_DEBTOR_ACCOUNTS[currency]
    waiting = Payout.objects.for_file().filter(currency=currency).order_by("id")
    # What another process locks is left to the next file.
    taken = list(waiting.select_for_update(skip_locked=True, no_key=True)[: PayoutFile.MOST])
    if not taken:
        raise Refused(f"No payout in {currency} waits for a file.")
    file = PayoutFile.objects.create(
        id=file_id,
        currency=currency,
        count=len(taken),
        total=sum(payout.amount for payout in taken),
        execute_on=execute_on,
        debtor_name=settings.PAYOUT_DEBTOR_NAME,
        debtor_bic=bic,
        sealed_debtor_number=seal(number, _place(file_id)),
        debtor_last4=number[-4:],
        created_by=operator,
    )
    if Payout.objects.for_file().filter(id__in=[payout.id for payout in taken]).update(file=file) != file.count:
        raise StaleRow
    audit_log.record(Action.ADDED, file, detail=summary(file))
    reached(Failpoint.POSTED)
    return file


def download(file: PayoutFile) -> bytes:
    """Return the content of a file, and record the download.

    Raise Refused if the file was cancelled, BadFile if the bank's schema forbids it, VaultUnavailable.
    """
    payouts = list(file.payouts.select_related("account").order_by("id"))
    if len(payouts) != file.count:
        raise Refused("This file was cancelled, and its payouts wait for another one.")
    number = unseal(file.sealed_debtor_number, _place(file.id))
    content = bank_file.render(file, number, (Transfer(each, number_of(each.account)) for each in payouts))
    with transaction.atomic():
        _change(file, Q(cancelled_at__isnull=True), downloaded_at=Coalesce("downloaded_at", clock.now()))
        audit_log.record(Action.EXPORTED, file, detail=summary(file))
    return content


@transaction.atomic
def mark_sent(file: PayoutFile) -> None:
    """Record that the bank has the file: all its payouts are in transit. Raise Refused, with nothing changed.

    The same transaction ends the request about it as done.
    """
    if file.downloaded_at is None:
        raise Refused("Nobody has downloaded this file yet, so the bank cannot have it.")
    _change(file, PayoutFile.OPEN, sent_at=clock.now())
    if _move(file, Status.PENDING, states.mark_sent) != file.count:
        raise StaleRow
    audit_log.record(Action.CHANGED, file, fields=["sent_at"], detail=f"sent: {summary(file)}")


@transaction.atomic
def mark_paid(file: PayoutFile, operator: User) -> int:
    """Record that the bank has paid all payouts of a sent file that are still in transit; return how many.

    Raise Refused if there is none, and for who made the file.
    """
    if operator.pk == file.created_by_id:
        raise Refused("You made this file. Another person looks at the bank's statement, and marks it as paid.")
    refuse_new(operator)
    paid = _move(file, Status.IN_TRANSIT, states.mark_paid)
    if not paid:
        raise Refused("No payout of this file is in transit.")
    audit_log.record(Action.CHANGED, file, detail=f"paid: {paid} of {summary(file)}")
    return paid


@transaction.atomic
def cancel(file: PayoutFile, operator: User) -> None:
    """Cancel a file that was not sent: its payouts wait for another one. Raise Refused, with nothing changed."""
    if operator.pk != file.created_by_id:
        refuse_new(operator)
    elif file.downloaded_at:
        raise Refused("You made this file, and it was downloaded. Another person checks that no bank has it.")
    # The first download may have come in between.
    unseen = Q(downloaded_at__isnull=True) | ~Q(created_by=operator)
    _change(file, PayoutFile.OPEN & unseen, cancelled_at=clock.now(), cancelled_by=operator)
    if Payout.objects.filter(file=file, status=Status.PENDING).update(file=None) != file.count:
        raise StaleRow
    audit_log.record(Action.CHANGED, file, fields=["cancelled_at"], detail=f"cancelled: {summary(file)}")


def summary(file: PayoutFile) -> str:
    """Return how many payouts a file has, and what they sum to."""
    return f"{file.count} payout{'s' * (file.count > 1)}, {shown_amount(file.total, file.currency)}"


def _change(file: PayoutFile, guard: Q, **values: Any) -> None:
    """Change a file unless another process did meanwhile; raise Refused then."""
    if not PayoutFile.objects.filter(guard, id=file.id).update(**values):
        raise Refused(TOO_LATE)


def _move(file: PayoutFile, status: str, move: Callable[[Payout], Payout]) -> int:
    """Move each payout of the file that has `status`; return how many."""
    rows = Payout.objects.filter(file=file, status=status).select_related("account").order_by("id")
    return len([move(payout) for payout in rows.select_for_update(no_key=True, of=("self",))])


def _place(file_id: UUID) -> Place:
    # A file is of no merchant, so its own ID stands for one.
    return Place(Purpose.SECRET, file_id, file_id, "debtor_number")

"""The sorts of the inbox about payouts: those that failed or wait for somebody, bank files, and new bank accounts."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db.models import Count, Min, QuerySet, Sum

from payments import clock
from payments.ids import public_id
from payments.inbox.entries import PAGES, Entry, Sort, page_of
from payments.models import Payout, PayoutAccount, PayoutFile
from payments.models.merchants.merchant_access import Limit, within
from payments.money import format_amount

# Payouts that failed longer ago are history: their money is in a later payout.
FAILED_SHOWN = timedelta(days=7)


def failed(limit: Limit) -> QuerySet[Any]:
    """Return the payouts that failed or were returned lately, newest first."""
    since = clock.now() - FAILED_SHOWN
    rows = Payout.objects.filter(within(limit, "merchant"), status=Payout.Status.FAILED, ended_at__gte=since)
    return rows.select_related("merchant").order_by("-ended_at")


def to_approve(limit: Limit) -> QuerySet[Any]:
    """Return the live payouts that wait for approval, oldest first."""
    rows = Payout.objects.filter(
        within(limit, "merchant"), livemode=True, status=Payout.Status.PENDING, approved_at__isnull=True
    )
    return rows.select_related("merchant").order_by("id")


def new_accounts(limit: Limit) -> QuerySet[Any]:
    """Return the bank accounts that take effect soon and can still be withdrawn, the next one first."""
    waiting = PayoutAccount.objects.waiting(clock.now())
    return waiting.filter(within(limit, "merchant")).select_related("merchant")


def files_to_send(limit: Limit) -> QuerySet[Any]:
    """Return the bank files that nobody has marked as sent, oldest first; a file has payouts of all merchants."""
    found = PayoutFile.objects.filter(PayoutFile.OPEN) if limit is None else PayoutFile.objects.none()
    return found.order_by("created_at")


def _failed(limit: Limit, most: int) -> Iterator[Entry]:
    for payout in failed(limit)[:most]:
        what = f"{public_id('po', payout.pk)}: {payout.failure_code.replace('_', ' ')}"
        yield _entry(payout, f"payout_failed:{payout.pk.hex}", what, payout.ended_at)


def _to_approve(limit: Limit, most: int) -> Iterator[Entry]:
    for payout in to_approve(limit)[:most]:
        yield _entry(payout, f"payout:{payout.pk.hex}", f"Payout {public_id('po', payout.pk)}", payout.created_at)


def _new_accounts(limit: Limit, most: int) -> Iterator[Entry]:
    for account in new_accounts(limit)[:most]:
        yield Entry(
            key=f"payout_account:{account.pk.hex}",
            what=f"New bank account for {account.currency}: {account}",
            merchant=account.merchant.title,
            address=page_of("payoutaccount", account.pk),
            livemode=account.livemode,
            until=account.effective_at,
            ends="takes effect",
        )


def _for_file(limit: Limit, most: int) -> Iterator[Entry]:
    """Yield an entry for each currency whose approved payouts wait for a bank file."""
    if limit is not None:
        return
    waiting = Payout.objects.for_file().values("currency").order_by("currency")
    sums = waiting.annotate(count=Count("id"), total=Sum("amount"), since=Min("approved_at"))
    for found in sums[:most]:
        plural = "s" * (found["count"] > 1)
        yield Entry(
            # Once for those that wait together: the next file takes the oldest.
            key=f"payouts_for_file:{found['currency']}:{found['since'].isoformat()}",
            what=f"{found['count']:,} approved payout{plural} in {found['currency']} without a bank file",
            merchant="",
            address=f"{PAGES}/payoutfile/add/",
            amount=format_amount(found["total"], found["currency"]),
            livemode=True,
            since=found["since"],
        )


def _files(limit: Limit, most: int) -> Iterator[Entry]:
    for file in files_to_send(limit)[:most]:
        yield Entry(
            key=f"payout_file:{file.pk.hex}",
            what=f"Bank file {public_id('pf', file.pk)}, {'' if file.downloaded_at else 'not downloaded and '}not sent",
            merchant="",
            address=page_of("payoutfile", file.pk),
            amount=format_amount(file.total, file.currency),
            livemode=True,
            since=file.created_at,
        )


def _entry(payout: Payout, key: str, what: str, since: Any) -> Entry:
    return Entry(
        key=key,
        what=what,
        merchant=payout.merchant.title,
        address=page_of("payout", payout.pk),
        amount=format_amount(payout.amount, payout.currency),
        livemode=payout.livemode,
        since=since,
    )


ACCOUNTS = Sort("payout_accounts", "Bank accounts that change", "payoutaccount", _new_accounts, "", new_accounts)
TO_APPROVE = Sort("payouts", "Payouts to approve", "payout", _to_approve, "approval=waiting", to_approve)
FAILED = Sort("payouts_failed", "Payouts failed or returned", "payout", _failed, "status=failed", failed)
FOR_FILE = Sort(
    "payouts_for_file", "Payouts without a bank file", "payoutfile", _for_file, names_nobody=True, right="add"
)
FILES = Sort("payout_files", "Bank files not sent", "payoutfile", _files, "status=open", files_to_send)

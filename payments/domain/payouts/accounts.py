"""Merchants' bank accounts: checked, sealed, and in live mode in effect a day after they were approved.

An account never changes, so that what a payout went to is known: another one replaces it. Only this module opens a
number.
"""

import re
from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from payments import bank_accounts, clock
from payments.db.writes import execute_writes
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.catalogue.event_types import PAYOUT_ACCOUNT_CREATED, PAYOUT_ACCOUNT_UPDATED
from payments.domain.catalogue.refusal_texts import said
from payments.domain.payouts import provider
from payments.domain.payouts.schedules import place_of
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.ids import new_id
from payments.models import Merchant, PayoutAccount, PayoutSchedule
from payments.models.books.payout_schedule import ACCOUNT_WAITS
from payments.models.operators.reasons import free_of_secrets
from payments.money import KNOWN_CURRENCIES
from payments.vault import seal, with_prefetched_keys

HOLDER_MAX_LENGTH = 70
SHOWN_LENGTH = 4
NOT_PRINTED = re.compile(r"[\x00-\x1f\x7f]")


class BadPayoutAccount(ValueError):
    """A bank account that is refused; the message is for who typed it, and repeats no number.

    `field` names what is wrong: `currency`, `holder`, `bic` or `number`; "" for none of them.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Details:
    """What is not secret of a bank account."""

    currency: str
    holder: str
    bic: str

    @property
    def country(self) -> str:
        """Return the country of the bank (ISO 3166-1 alpha-2)."""
        return self.bic[4:6]


@with_prefetched_keys
@transaction.atomic
def add_account(
    merchant: Merchant,
    livemode: bool,
    details: Details,
    number: str,
    account_id: UUID | None = None,
    waits: bool = False,
) -> PayoutAccount:
    """Add the bank account that payouts go to: in test mode at once, unless it `waits`; in live mode after a day.

    Raises BadPayoutAccount, also while another account waits for its day; VaultUnavailable.
    """
    details, number = checked(details), checked_number(details, number)
    # Without this lock, two accounts at the same time would not see each other.
    Merchant.objects.select_for_update(no_key=True).get(id=merchant.id)
    now = clock.now()
    own = PayoutAccount.objects.filter(merchant=merchant, livemode=livemode, currency=details.currency)
    if waiting := own.waiting(now).first():
        raise BadPayoutAccount(
            said("Another bank account, {account}, waits for its day. Withdraw it first.", account=waiting)
        )
    account = PayoutAccount(
        id=account_id or new_id(),
        merchant=merchant,
        livemode=livemode,
        currency=details.currency,
        holder=details.holder,
        bic=details.bic,
        country=details.country,
        last4=number[-SHOWN_LENGTH:],
        effective_at=now + ACCOUNT_WAITS if livemode or waits else now,
        created_at=now,
    )
    schedule = PayoutSchedule.objects.filter(merchant=merchant, livemode=livemode, currency=details.currency).first()
    way_out = schedule.provider_account if schedule else None
    if way_out and (obstacle := provider.obstacle(account, way_out)):
        raise BadPayoutAccount(obstacle, "bic")
    account.sealed_number = seal(number, place_of(account))
    account.save(force_insert=True)
    _announce(account, PAYOUT_ACCOUNT_CREATED)
    mode = "live" if livemode else "test"
    detail = (
        f"{account}, {account.bic}, {account.currency}, {mode} mode, in effect from {clock.iso(account.effective_at)}"
    )
    audit_log.record(Action.ADDED, account, detail=detail, notice_of=merchant.id if livemode else None)
    return account


@transaction.atomic
def withdraw(account: PayoutAccount) -> None:
    """Withdraw an account that is not in effect yet, so that no payout ever goes to it. Raises BadPayoutAccount."""
    now = clock.now()
    rows = PayoutAccount.objects.waiting(now).filter(id=account.id)
    if not rows.update(withdrawn_at=now):
        raise BadPayoutAccount("This bank account is in effect, or was withdrawn. Set another one instead.")
    account.refresh_from_db()
    _announce(account, PAYOUT_ACCOUNT_UPDATED)
    audit_log.record(Action.WITHDRAWN, account, detail=f"{account}, {account.currency}")


def checked(details: Details) -> Details:
    """Return `details` in their normal form. Raises BadPayoutAccount."""
    holder = details.holder.strip()
    if details.currency not in KNOWN_CURRENCIES:
        raise BadPayoutAccount("This is no ISO 4217 currency code in upper case, such as PHP.", "currency")
    if not 1 <= len(holder) <= HOLDER_MAX_LENGTH or NOT_PRINTED.search(holder):
        raise BadPayoutAccount(
            said("The holder's name has 1 to {most} printed characters.", most=HOLDER_MAX_LENGTH), "holder"
        )
    try:
        free_of_secrets(holder)
    except ValidationError as fault:
        raise BadPayoutAccount(" ".join(fault.messages), "holder") from None
    try:
        bank = bank_accounts.checked_bic(details.bic)
    except ValueError as fault:
        raise BadPayoutAccount(str(fault), "bic") from None
    if obstacle := bank_accounts.obstacle(holder, bank):
        raise BadPayoutAccount(obstacle, "holder")
    return Details(details.currency, holder, bank)


def checked_number(details: Details, number: str) -> str:
    """Return `number` without its separators; an IBAN where the bank's country has them. Raises BadPayoutAccount."""
    try:
        return bank_accounts.checked_number(details.country, number)
    except ValueError as fault:
        raise BadPayoutAccount(str(fault), "number") from None


def _announce(account: PayoutAccount, event_type: str) -> None:
    """Write an event, so that the merchant may object before a wrong account takes effect."""
    execute_writes(*events.of(Caller(account.merchant_id, account.livemode), event_type, account))

"""Schedules of payouts, and the bank accounts that they go to."""

from datetime import UTC, datetime, time, timedelta

from payments.models import PayoutAccount, PayoutSchedule
from payments.vault import Place, Purpose, unseal

Interval = PayoutSchedule.Interval
# Of the day (UTC): the settlement of the day before is then complete.
RUN_AT = time(1, tzinfo=UTC)
DAY = timedelta(days=1)


def next_run_at(interval: str, now: datetime, at: time = RUN_AT) -> datetime | None:
    """Return when a schedule runs next: daily, on Mondays, on the first of a month; None for a manual one.

    `at` is the time of the day, in its own time zone.
    """
    if interval == Interval.MANUAL:
        return None
    run_at = datetime.combine(now.astimezone(at.tzinfo).date(), at)
    while run_at <= now or not _is_day_of(interval, run_at):
        run_at += DAY
    return run_at


def account_in_effect(schedule: PayoutSchedule, now: datetime) -> PayoutAccount | None:
    """Return the bank account that a payout goes to now; None where the merchant has none yet."""
    own = PayoutAccount.objects.filter(
        merchant=schedule.merchant_id, livemode=schedule.livemode, currency=schedule.currency
    )
    return own.in_effect(now).first()


def number_of(account: PayoutAccount) -> str:
    """Return the account's whole number. Raises VaultError, VaultUnavailable."""
    return unseal(account.sealed_number, place_of(account))


def place_of(account: PayoutAccount) -> Place:
    """Return the place where the account's number is sealed."""
    return Place(Purpose.SECRET, account.merchant_id, account.id, "number")


def _is_day_of(interval: str, moment: datetime) -> bool:
    match interval:
        case Interval.WEEKLY:
            return moment.weekday() == 0
        case Interval.MONTHLY:
            return moment.day == 1
        case Interval.DAILY:
            return True
        case unknown:
            raise ValueError(unknown)

"""The terms of a merchant's payouts: when they are made, what is kept of them, and how they go out."""

from dataclasses import asdict, dataclass
from typing import Any, Self
from uuid import UUID

from django.db import IntegrityError, transaction

from payments import clock
from payments.domain.audit import audit_log, notices
from payments.domain.audit.audit_log import Action
from payments.domain.payouts import provider
from payments.domain.payouts.schedules import next_run_at
from payments.models import Merchant, PayoutAccount, PayoutSchedule, ProviderAccount
from payments.money import KNOWN_CURRENCIES

DELAY_DAYS_MAX, RESERVE_PERCENT_MAX, RESERVE_DAYS_MAX = 90, 99, 540


class BadSchedule(ValueError):
    """Terms that are not possible; the message is for who gave them. `field` names the one at fault."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Terms:
    """The terms of a schedule; without a provider account, live payouts go into bank files."""

    interval: str = PayoutSchedule.Interval.MANUAL
    delay_days: int = 0
    reserve_percent: int = 0
    reserve_days: int = 0
    provider_account: str = ""

    @classmethod
    def of(cls, schedule: PayoutSchedule) -> Self:
        account = str(schedule.provider_account_id or "")
        values = {
            name: getattr(schedule, name) for name in ("interval", "delay_days", "reserve_percent", "reserve_days")
        }
        return cls(**values, provider_account=account)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def schedule_of(merchant: Merchant, livemode: bool, currency: str) -> PayoutSchedule | None:
    """Return the merchant's schedule in one mode and currency, if there is one."""
    return PayoutSchedule.objects.of(merchant.id, livemode).filter(currency=currency).first()


@transaction.atomic
def set_schedule(merchant: Merchant, livemode: bool, currency: str, terms: Terms) -> PayoutSchedule:
    """Set the terms of payouts made from now on; those made before keep their reserve. Raise BadSchedule."""
    _check(merchant, livemode, currency, terms)
    own = PayoutSchedule.objects.of(merchant.id, livemode).filter(currency=currency)
    # A payout that is being made ends first.
    schedule = own.select_for_update(no_key=True).first()
    before = Terms.of(schedule) if schedule else None
    schedule = schedule or PayoutSchedule(merchant=merchant, livemode=livemode, currency=currency)
    if before is None or before.interval != terms.interval:
        schedule.next_at = next_run_at(terms.interval, clock.now())
    schedule.interval, schedule.delay_days = terms.interval, terms.delay_days
    schedule.reserve_percent, schedule.reserve_days = terms.reserve_percent, terms.reserve_days
    schedule.provider_account_id = UUID(terms.provider_account) if terms.provider_account else None
    schedule.updated_at = clock.now()
    try:
        with transaction.atomic():
            schedule.save(force_insert=before is None)
    except IntegrityError:
        raise BadSchedule("The schedule was made meanwhile. Look at it again.") from None
    if before != terms:
        action = Action.CHANGED if before else Action.ADDED
        audit_log.record(
            action,
            schedule,
            fields=_changed(before, terms),
            detail=_detail(schedule, before, terms),
            notice_of=merchant.id if livemode else None,
        )
        notices.notify_merchant(merchant.id, notices.Change("payout_settings"), livemode=livemode)
    return schedule


def _check(merchant: Merchant, livemode: bool, currency: str, terms: Terms) -> None:
    if currency not in KNOWN_CURRENCIES:
        raise BadSchedule("This is no ISO 4217 currency code in upper case, such as PHP.", "currency")
    if terms.interval not in PayoutSchedule.Interval.values:
        raise BadSchedule(f"The interval is one of {', '.join(PayoutSchedule.Interval.values)}.", "interval")
    for name, most in (
        ("delay_days", DELAY_DAYS_MAX),
        ("reserve_percent", RESERVE_PERCENT_MAX),
        ("reserve_days", RESERVE_DAYS_MAX),
    ):
        if not 0 <= getattr(terms, name) <= most:
            raise BadSchedule(f"This is 0 to {most}.", name)
    if bool(terms.reserve_percent) != bool(terms.reserve_days):
        raise BadSchedule("A reserve has a percentage and days; without one, both are 0.", "reserve_days")
    if terms.provider_account:
        _check_way_out(merchant, livemode, currency, terms.provider_account)


def _check_way_out(merchant: Merchant, livemode: bool, currency: str, account_id: str) -> None:
    if not livemode:
        raise BadSchedule("Payouts of test mode go to the simulated bank.", "provider_account")
    account = ProviderAccount.objects.filter(id=account_id, merchant=merchant, livemode=True, enabled=True).first()
    if account is None:
        raise BadSchedule("This is no enabled live account of the merchant.", "provider_account")
    own = PayoutAccount.objects.filter(merchant=merchant, livemode=True, currency=currency)
    bank = own.waiting(clock.now()).first() or own.in_effect(clock.now()).first()
    if bank and (obstacle := provider.obstacle(bank, account)):
        raise BadSchedule(obstacle, "provider_account")


def _changed(before: Terms | None, after: Terms) -> list[str]:
    old = before.as_json() if before else {}
    return [name for name, value in after.as_json().items() if old.get(name) != value]


def _detail(schedule: PayoutSchedule, before: Terms | None, after: Terms) -> str:
    mode = "live" if schedule.livemode else "test"
    changes = audit_log.changes(_shown(before) if before else {}, _shown(after))
    return ", ".join([f"{schedule.currency}, {mode} mode", *changes])


def _shown(terms: Terms) -> dict[str, Any]:
    return terms.as_json() | {"interval": terms.interval.capitalize()}

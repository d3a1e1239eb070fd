"""What a merchant's page shows of its payouts."""

from collections.abc import Iterator

from django.utils.html import format_html

from payments import clock
from payments.admin.framework.formats import days_text, lines, link, money
from payments.admin.payouts.accounts import standing
from payments.admin.shown_times import moment_brief, moment_text
from payments.models import Merchant, Payout, PayoutAccount, PayoutSchedule

SHOWN_ACCOUNTS, SHOWN_SCHEDULES, SHOWN_PAYOUTS = 20, 20, 10


def accounts(merchant: Merchant) -> str:
    """Return the bank accounts in effect, and those that wait, by mode and currency."""
    return lines(map(_account_line, _accounts(merchant)))


def schedules(merchant: Merchant) -> str:
    """Return the schedules by mode and currency."""
    found = PayoutSchedule.objects.filter(merchant=merchant).order_by("-livemode", "currency")
    return lines(link(PayoutSchedule, row.pk, _schedule_words(row)) for row in found[:SHOWN_SCHEDULES])


def payouts(merchant: Merchant) -> str:
    """Return the newest payouts of both modes."""
    found = [
        payout
        for livemode in (True, False)
        for payout in Payout.objects.of(merchant.pk, livemode).order_by("-id")[:SHOWN_PAYOUTS]
    ]
    newest = sorted(found, key=lambda payout: payout.id, reverse=True)[:SHOWN_PAYOUTS]
    return lines(link(Payout, payout.pk, _payout_words(payout)) for payout in newest)


def _accounts(merchant: Merchant) -> Iterator[PayoutAccount]:
    now = clock.now()
    own = PayoutAccount.objects.filter(merchant=merchant)
    yield from own.waiting(now)[:SHOWN_ACCOUNTS]
    newest = own.in_effect(now).order_by("-livemode", "currency", "-effective_at", "-id")
    yield from newest.distinct("livemode", "currency")[:SHOWN_ACCOUNTS]


def _account_line(account: PayoutAccount) -> str:
    text = f"{_mode(account)}: {account.currency}, {account}, {account.bic}"
    since = f"from {moment_text(account.effective_at)}" if account.effective_at > clock.now() else ""
    return format_html("{} {} {}", link(PayoutAccount, account.pk, text), standing(account), since)


def _schedule_words(schedule: PayoutSchedule) -> str:
    kept = (
        f", {schedule.reserve_percent} % kept for {days_text(schedule.reserve_days)}"
        if schedule.reserve_percent
        else ""
    )
    run = format_html(", next {}", moment_brief(schedule.next_at)) if schedule.next_at else ""
    delay = f", after {days_text(schedule.delay_days)}" if schedule.delay_days else ""
    return format_html("{}: {} {}{}{}{}", _mode(schedule), schedule.currency, schedule.interval, delay, kept, run)


def _payout_words(payout: Payout) -> str:
    amount, status = money(payout.amount, payout.currency), payout.get_status_display().lower()
    return format_html("{}: {} {}, {}", _mode(payout), amount, status, moment_brief(payout.created_at))


def _mode(row: PayoutAccount | PayoutSchedule | Payout) -> str:
    return "live" if row.livemode else "test"

"""Payouts of demo merchants: a bank account and a schedule, and what the worker and the bank do about them."""

from datetime import datetime, timedelta

from payments import clock
from payments.domain.payouts import accounts, make, send, states, terms
from payments.domain.payouts.accounts import Details
from payments.domain.payouts.schedules import next_run_at
from payments.domain.payouts.terms import Terms
from payments.domain.provider_events.messages import apply_simulator_messages
from payments.models import Merchant, Payout, PayoutSchedule
from payments.quickstart.demo.scenarios import Steps
from payments.quickstart.demo.shops import Shop

CURRENCY, BIC = "PHP", "BNORPHMM"
NUMBER = "001234567890"
# Money that goes to the first account of some shops comes back, and they give another one.
RETURNING_NUMBER = "001234560003"
DELAY = timedelta(minutes=2)
# It is paid after a night, and what comes back does so after another one.
NIGHTS_AT_BANK = 3
Interval = PayoutSchedule.Interval
DAILY = Terms(Interval.DAILY)


def set_up(merchant: Merchant, number: str = NUMBER, wanted: Terms = DAILY) -> None:
    """Give the merchant a bank account and a schedule in test mode. Raise VaultUnavailable."""
    accounts.add_account(merchant, False, _details(merchant), number)
    terms.set_schedule(merchant, False, CURRENCY, wanted)


def pay_out_weekly(shop: Shop, returning: bool) -> Steps:
    """Pay the shop out by its schedule; where the first money is `returning`, until it gives another account."""
    wanted = Terms(Interval.WEEKLY, delay_days=1, reserve_percent=5, reserve_days=30)
    set_up(shop.merchant, RETURNING_NUMBER if returning else NUMBER, wanted)
    while True:
        yield _night(Interval.WEEKLY)
        states.release_reserves(scope=shop.scope)
        make.make_due(scope=shop.scope)
        made = Payout.objects.filter(shop.scope.within(), created_at__gte=clock.now() - DELAY)
        sent = [payout_id.hex for payout_id in made.values_list("id", flat=True)]
        send.send_due(scope=shop.scope)
        for _ in range(NIGHTS_AT_BANK):
            yield _night(Interval.DAILY)
            send.send_due(scope=shop.scope)
            apply_simulator_messages(among=sent)
        if returning and Payout.objects.filter(shop.scope.within(), status=Payout.Status.FAILED).exists():
            accounts.add_account(shop.merchant, False, _details(shop.merchant), NUMBER)
            returning = False


def _details(merchant: Merchant) -> Details:
    return Details(CURRENCY, merchant.title, BIC)


def _night(interval: str) -> datetime:
    moment = next_run_at(interval, clock.now())
    assert moment  # nosec B101 # for the type checker
    return moment + DELAY

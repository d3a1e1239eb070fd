"""Payouts of demo merchants: a bank account and a schedule, and what the worker does about them each night."""

from datetime import datetime, timedelta

from payments import clock
from payments.domain.payouts import accounts, make, send, sweeps, terms
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
Interval = PayoutSchedule.Interval
DAILY = Terms(Interval.DAILY)


def set_up(merchant: Merchant, number: str = NUMBER, wanted: Terms = DAILY) -> None:
    """Give the merchant a bank account and a schedule in test mode. Raise VaultUnavailable."""
    accounts.add_account(merchant, False, _details(merchant), number)
    terms.set_schedule(merchant, False, CURRENCY, wanted)


def pay_out_nightly(shop: Shop, returning: bool) -> Steps:
    """Pay the shop out by its schedule; where the first money is `returning`, until it gives another account."""
    wanted = Terms(Interval.WEEKLY, delay_days=1, reserve_percent=5, reserve_days=30)
    set_up(shop.merchant, RETURNING_NUMBER if returning else NUMBER, wanted)
    while True:
        yield _next_night()
        make.make_due(scope=shop.scope)
        sweeps.release_reserves(scope=shop.scope)
        send.send_due(scope=shop.scope)
        own = Payout.objects.filter(shop.scope.within())
        apply_simulator_messages(among=[payout_id.hex for payout_id in own.values_list("id", flat=True)])
        if returning and own.filter(status=Payout.Status.FAILED).exists():
            accounts.add_account(shop.merchant, False, _details(shop.merchant), NUMBER)
            returning = False


def _details(merchant: Merchant) -> Details:
    return Details(CURRENCY, merchant.title, BIC)


def _next_night() -> datetime:
    moment = next_run_at(Interval.DAILY, clock.now())
    assert moment  # nosec B101 # for the type checker
    return moment + DELAY

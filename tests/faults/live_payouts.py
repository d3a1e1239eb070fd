"""Live payouts and bank files, which two operators let out, through any crash."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from django.test import override_settings

from payments import clock
from payments.domain.approvals import decide, payouts
from payments.domain.payouts import files
from payments.ids import new_id
from payments.ledger.settlement import settle_due
from payments.models import Charge, Payout, PayoutSchedule, Settlement
from payments.sweeps.scope import Scope
from tests.client import Api
from tests.faults.approvals import LetOut
from tests.faults.elapsed_time import let_days_pass_for_payouts
from tests.operators.factories import REASON, person
from tests.payouts.live import DEBTORS, PAY_ON, live_account
from tests.payouts.stories import give_schedule
from tests.routing.doubles import Psp, account_at, installed, route_to

if TYPE_CHECKING:
    from tests.faults.life import Life


def _asked_payout(life: "Life") -> Payout:
    """Earn something in live mode, and have Ana ask that it is paid out."""
    merchant = life.shop.merchant
    with installed(Psp("north")) as psp, override_settings(LIVE_CARDS_ATTESTED=True):
        if not (schedule := PayoutSchedule.objects.filter(merchant=merchant, livemode=True).first()):
            route_to(account_at(psp, merchant))
            live_account(merchant)
            schedule = give_schedule(merchant, "daily", livemode=True)
        Api(life.shop.keys["sk_live"]).charge()
    # In live mode a merchant has one settlement a day.
    settled = Settlement.objects.filter(merchant=merchant, livemode=True).count()
    then = clock.now() - timedelta(days=1 + settled)
    Charge.objects.filter(merchant=merchant, livemode=True, settled_at=None).update(settle_due_at=then)
    with clock.at(then):
        settle_due(scope=Scope(merchant.id, livemode=True))
    let_days_pass_for_payouts(merchant.id, 1)
    return payouts.pay_out(schedule, person("ana", "finance"), REASON)


def _let_out_payout(life: "Life") -> LetOut:
    return LetOut(payouts.requests_of(_asked_payout(life)).get().id)


def _let_out_file(life: "Life") -> LetOut:
    decide.approve_or_ask(_asked_payout(life), person("ben", "finance"), REASON)
    with override_settings(PAYOUT_DEBTOR_NAME="Kaha Philippines Inc.", PAYOUT_DEBTOR_ACCOUNTS=DEBTORS):
        file = payouts.make_file(new_id(), "PHP", PAY_ON, person("ana", "finance"), REASON)
    files.download(file)
    return LetOut(payouts.requests_of(file).get().id)


LET_OUT: dict[str, Callable[["Life"], LetOut]] = {"payout": _let_out_payout, "file": _let_out_file}

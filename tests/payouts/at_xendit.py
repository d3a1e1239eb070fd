"""A shop in live mode whose payouts go out by the fake of Xendit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.test import override_settings

from payments import clock
from payments.db.writes import Insert, execute_writes
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import send
from payments.domain.routing import provider_accounts
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.ledger import movements
from payments.models import Payout, ProviderAccount
from tests.payouts.live import approval_of
from tests.payouts.stories import give_account
from tests.provider_events.psp import apply_due
from tests.provider_events.psp import send as send_webhook
from tests.providers.bench import SignedMessage
from tests.providers.xendit.bench import XenditBench, xendit_bench
from tests.providers.xendit.payouts import MadePayout

AMOUNT = 9_635
NUMBER = "001234567890"


@dataclass
class LiveShop:
    """The shop, its account at Xendit, and Xendit."""

    shop: NewMerchant
    account: ProviderAccount
    bench: XenditBench

    def payout(self, number: str = NUMBER, *, approved: bool = True, **members: Any) -> Payout:
        """Make a payout of money that was there, which an operator has approved; `members` are its bank account's."""
        merchant = self.shop.merchant
        payout = Payout(
            merchant=merchant,
            livemode=True,
            currency="PHP",
            amount=AMOUNT,
            account=give_account(merchant, number, livemode=True, **members),
            provider_account=self.account,
        )
        if approved:
            payout.approved_at, payout.approval = clock.now(), approval_of(payout)
        shown = events.of(Caller(merchant.id, livemode=True), "payout.created", payout)
        execute_writes(Insert(payout), movements.posted_for(payout, movements.payout_made(AMOUNT, 0)), *shown)
        return payout

    def made(self) -> list[MadePayout]:
        """Return the payouts in Xendit's books."""
        return list(self.bench.fake.payouts.made.values())

    def end(self, status: str, failure_code: str = "") -> list[SignedMessage]:
        """Let the bank do something with the only payout; return what Xendit sends about it."""
        [payout] = self.made()
        self.bench.fake.payouts.end(payout.reference, status, failure_code)
        return self.bench.payout_webhooks()

    def announce(self, webhooks: Sequence[SignedMessage]) -> None:
        """Deliver webhooks in this order, and apply them."""
        for headers, body in webhooks:
            assert send_webhook(self.account, (dict(headers), body)).status_code == 200
        apply_due()


@contextmanager
def live_shop(shop: NewMerchant) -> Iterator[LiveShop]:
    with xendit_bench() as bench, override_settings(XENDIT_URL=bench.fake.address):
        credentials = {"secret_key": bench.secret_key, "callback_token": bench.callback_token}
        account = provider_accounts.open_account(shop.merchant, True, "xendit", "Payouts", credentials, {})
        yield LiveShop(shop, account, bench)


def again() -> Payout:
    """Let the wait for the next try end, try, and return the only payout as it is then."""
    Payout.objects.filter(due_at__isnull=False).update(due_at=clock.now())
    send.send_due()
    return Payout.objects.select_related("account").get()

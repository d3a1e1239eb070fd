"""A shop in live mode whose charges go to the fake of a real provider, which reports them by webhook."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any

from django.http import HttpResponse
from django.test import Client, override_settings

from payments.domain.charging import attempts
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.routing import provider_accounts
from payments.models import Attempt, ProviderAccount
from payments.providers import registry
from payments.providers.base import CardData, Payment
from payments.providers.http import Send
from tests.client import Api, made
from tests.pages.waiting_charges import SHOP, path_of
from tests.provider_events.psp import apply_due, send
from tests.providers.adyen.bench import ACCOUNT, AdyenBench, adyen_bench
from tests.providers.adyen.books import State
from tests.providers.bench import Money, SignedMessage, Spoilt
from tests.providers.xendit.bench import XenditBench, xendit_bench
from tests.providers.xendit.books import OPEN
from tests.routing.doubles import route_to

# Providers send payers back over https alone.
LIVE: dict[str, Any] = {"LIVE_CARDS_ATTESTED": True, "PUBLIC_URL": "https://pay.example.com"}


@dataclass
class World:
    """The API with the shop's live key, the account at the provider, and whatever happens there."""

    live: Api
    account: ProviderAccount
    bench: XenditBench | AdyenBench
    credentials: dict[str, str]

    @property
    def payment(self) -> Payment:
        """The newest payment, as the provider was asked for it."""
        return self.payment_of(Attempt.objects.filter(kind="authorize").latest("id"))

    def payment_of(self, attempt: Attempt) -> Payment:
        """Return the attempt's payment with the provider's ID for it."""
        return attempts.payment_of(attempts.reload(attempt))

    @property
    def money(self) -> Money:
        """What the provider's books say of the newest payment."""
        return self.bench.money(self.payment)

    def card_source(self, card: CardData) -> str:
        """Create a source of this card."""
        announced = {name: getattr(card, name) for name in ("number", "exp_month", "exp_year", "cvc", "name")}
        return str(made(self.live.post("/sources/", {"type": "card", "card": announced}))["id"])

    def awaited(self) -> dict[str, Any]:
        """Create a charge that waits for its payer, who returns to the shop."""
        return self.live.charge_source(self.live.wallet(self.bench.redirect_type, redirect=SHOP))

    def come_back(self, brought: Any) -> HttpResponse:
        """Return the answer to the payer's browser that comes back with `brought`."""
        return Client().get(path_of(self.payment.return_url), brought)

    def led_on(self, brought: Any) -> str:
        """Return where the payer is led: at once, or when the provider has reported what it does not answer."""
        response = self.come_back(brought)
        if response.status_code == 200:
            assert response["Refresh"]
            self.happen()
            response = self.come_back(brought)
        return response["Location"]

    def pay_too_late(self) -> None:
        """Pay although the payment was cancelled at the provider."""
        if isinstance(self.bench, XenditBench):
            *_, request = self.bench.fake.books.requests.values()
            self.bench.fake.books.approve(request)
        else:
            self.bench.pay(self.payment)

    def run_out(self) -> None:
        """End the provider's wait for all payers."""
        books = self.bench.fake.books
        if isinstance(self.bench, XenditBench):
            for request in [each for each in books.requests.values() if each.status == OPEN]:
                books.expire(request)
        else:
            for booked in [each for each in books.payments.values() if each.state is State.AWAITING]:
                books.close_offer(booked)

    def spoil_next(self, how: Spoilt) -> None:
        self.bench.spoil_next(how)

    def happen(self) -> None:
        """Do and report all that the provider does by itself."""
        self.bench.let_pass()
        self.announce(self.bench.webhooks())

    def announce(self, webhooks: Sequence[SignedMessage]) -> None:
        """Deliver the webhooks in this order and apply them."""
        for headers, body in webhooks:
            assert send(self.account, (dict(headers), body)).status_code == 200
        apply_due()

    def report_in_disorder(self, random: Random) -> None:
        """Deliver all reports in any order, and some of them twice."""
        self.bench.let_pass()
        webhooks = list(self.bench.webhooks())
        webhooks += random.choices(webhooks, k=len(webhooks))
        random.shuffle(webhooks)
        self.announce(webhooks)


@contextmanager
def xendit_world(shop: NewMerchant) -> Iterator[World]:
    with xendit_bench() as bench, override_settings(XENDIT_URL=bench.fake.address, **LIVE):
        credentials = {"secret_key": bench.secret_key, "callback_token": bench.callback_token}
        yield _world(shop, bench, "xendit", credentials, {}, ["card", "gcash", "qrph"])


@contextmanager
def adyen_world(shop: NewMerchant) -> Iterator[World]:
    with adyen_bench() as bench, override_settings(ADYEN_URL=bench.fake.address, **LIVE):
        types = ["card", "gcash", "wechat"]
        yield _world(
            shop, bench, "adyen", dict(ACCOUNT.credentials), {**ACCOUNT.settings, "live_prefix": "fake"}, types
        )


@contextmanager
def asked_by(send: Send, provider: str) -> Iterator[None]:
    """Has kaha reach its accounts at this provider by `send`."""
    known = registry.CONNECTORS[provider]
    registry.CONNECTORS[provider] = replace(known, connect=partial(known.connect, send=send))
    try:
        yield
    finally:
        registry.CONNECTORS[provider] = known


def _world(
    shop: NewMerchant,
    bench: XenditBench | AdyenBench,
    provider: str,
    credentials: dict[str, str],
    settings: dict[str, str],
    source_types: list[str],
) -> World:
    account = provider_accounts.open_account(shop.merchant, True, provider, "Main", credentials, settings)
    for source_type in source_types:
        route_to(account, source_type)
    return World(Api(shop.keys["sk_live"]), account, bench, credentials)


WORLDS = {"adyen": adyen_world, "xendit": xendit_world}
# The type whose payer scans a code.
SCANNED = {"adyen": "wechat", "xendit": "qrph"}

"""Adyen at the shared contract suite: the connector before its fake."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from payments.providers.accounts import Account
from payments.providers.adyen import disputes
from payments.providers.adyen.connector import Adyen
from payments.providers.base import CardData, Payment
from payments.providers.http import Reply, Send, send
from payments.providers.simulator.disputes import STORIES
from payments.providers.simulator.scenarios import Story
from tests.providers.adyen.books import Booked
from tests.providers.adyen.fake import API_KEY, CANCELLED, CHALLENGED, AdyenFake
from tests.providers.adyen.webhooks import HMAC_KEY, MERCHANT_ACCOUNT
from tests.providers.bench import CARD, Money, SignedMessage, Spoilt

ACCOUNT = Account(
    livemode=False,
    credentials={"api_key": API_KEY, "hmac_key": HMAC_KEY},
    settings={"merchant_account": MERCHANT_ACCOUNT},
)
HOLDERS = {
    "card_declined": "NO REASON",
    "insufficient_funds": "NO MONEY",
    "expired_card": "OLD CARD",
    "incorrect_cvc": "WRONG CVC",
    "processing_error": "NO ACQUIRER",
}


class AdyenBench:
    """The `Bench` of Adyen. The connector asks at `address`, the fake's own or one before it."""

    redirect_type = "gcash"

    def __init__(self, fake: AdyenFake, address: str, sender: Send = send) -> None:
        self.fake = fake
        self.connector = Adyen(ACCOUNT, address, sender)

    def card(self, declined: str = "", *, challenged: bool = False) -> CardData:
        if challenged:
            return replace(CARD, number=CHALLENGED)
        return replace(CARD, name=HOLDERS[declined]) if declined else CARD

    def pay(self, payment: Payment) -> Mapping[str, str]:
        booked = self._booked(payment)
        booked.agreed = True
        if not booked.is_card:
            self.fake.books.authorise(booked)
        return {"redirectResult": booked.psp_reference}

    def refuse(self, payment: Payment) -> Mapping[str, str]:
        booked = self._booked(payment)
        booked.agreed = False
        if not booked.is_card:
            self.fake.books.refuse(booked, CANCELLED[1])
        return {"redirectResult": booked.psp_reference}

    def run_out(self, payment: Payment) -> None:
        self.fake.books.close_offer(self._booked(payment))

    def let_pass(self) -> None:
        self.fake.books.let_pass()

    def dispute(self, payment: Payment, story: Story) -> None:
        events = {stage: event for event, stage in disputes.STAGES.items()}
        self.fake.books.dispute(self._booked(payment), [events[stage] for _, stage in STORIES[story]])

    def begin_dispute(self, payment: Payment) -> str:
        """Take the money back as the payer's bank. Return the dispute's reference at Adyen."""
        return self.fake.books.dispute(self._booked(payment), ["CHARGEBACK"]).psp_reference

    def responses(self, payment: Payment) -> list[str]:
        """Return the responses that Adyen has about a payment's disputes."""
        disputes = [each for each in self.fake.books.disputes.values() if each.payment_reference == payment.reference]
        return [
            response
            for each in disputes
            for response in ["evidence"] * len(each.defended) + ["accept"] * each.is_accepted
        ]

    def webhooks(self) -> list[SignedMessage]:
        """All of them, also those that were sent before: a webhook is sent again until it is answered."""
        return list(self.fake.books.announced)

    def forge(self, webhook: SignedMessage) -> SignedMessage:
        headers, body = webhook
        return headers, body.replace(b'"value": ', b'"value": 1')

    def spoil_next(self, how: Spoilt) -> None:
        self.fake.spoil_next(how)

    def money(self, payment: Payment) -> Money:
        booked = self.fake.books.payments.get(payment.reference)
        return booked.money if booked else Money()

    def _booked(self, payment: Payment) -> Booked:
        return self.fake.books.payments[payment.reference]


class SpoilsDisputes:
    """Sends, and has one request about a dispute spoilt by the fake; the first is 0."""

    fake: AdyenFake

    def __init__(self, number: int, how: Spoilt) -> None:
        self._left, self._how = number, how

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
        if b"disputePspReference" in (body or b""):
            if self._left == 0:
                self.fake.spoil_next(self._how)
            self._left -= 1
        return send(method, url, headers, body)


@contextmanager
def adyen_bench(sender: Send = send) -> Iterator[AdyenBench]:
    """Adyen's connector and its fake, for as long as the block runs."""
    fake = AdyenFake()
    with fake.serving():
        yield AdyenBench(fake, fake.address, sender)

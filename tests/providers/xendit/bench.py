"""Xendit's connector before its fake, at the shared contract suite."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from payments.providers.base import CardData, Payment
from payments.providers.disputes import Stage
from payments.providers.http import Send, send
from payments.providers.simulator.disputes import STORIES
from payments.providers.simulator.scenarios import Story
from payments.providers.xendit.client import XenditClient
from payments.providers.xendit.connector import Xendit
from payments.providers.xendit.webhooks import TOKEN_HEADER
from tests.providers.bench import CARD, Money, SignedMessage, Spoilt
from tests.providers.xendit.books import CHALLENGED, OPEN, Request
from tests.providers.xendit.fake import FakeXendit

# Where Xendit itself is, for connectors that reach nobody.
URL = "https://api.xendit.co"
DECLINED = {
    "card_declined": "4000000000000002",
    "insufficient_funds": "4000000000009995",
    "stolen_card": "4000000000009979",
    "expired_card": "4000000000000069",
    "incorrect_cvc": "4000000000000127",
    "processing_error": "4000000000000119",
}


# How disputes end without evidence.
ENDS = {
    Stage.EXPIRED: ("LOST", "EXCEEDED_DEADLINE"),
    Stage.REVERSED: ("WON", "WITHDRAWN"),
    Stage.LOST_FINALLY: ("LOST", "ARBITRATION"),
}


class XenditBench:
    """The `Bench` of Xendit; the connector asks at `url`, the fake's own unless something stands between."""

    redirect_type = "gcash"

    def __init__(self, url: str = "", sender: Send = send) -> None:
        self.secret_key = f"xnd_development_{secrets.token_urlsafe(32)}"
        self.callback_token = secrets.token_urlsafe(32)
        self.fake = FakeXendit(self.secret_key)
        self.connector = Xendit(XenditClient(url or self.fake.address, self.secret_key, sender), self.callback_token)

    def card(self, declined: str = "", *, challenged: bool = False) -> CardData:
        if challenged:
            return replace(CARD, number=CHALLENGED)
        return replace(CARD, number=DECLINED[declined]) if declined else CARD

    def pay(self, payment: Payment) -> Mapping[str, str]:
        self.fake.books.approve(self._open(payment))
        return {}

    def refuse(self, payment: Payment) -> Mapping[str, str]:
        is_card = payment.source_type == "card"
        self.fake.books.fail(self._open(payment), "AUTHENTICATION_FAILED" if is_card else "USER_DECLINED_PAYMENT")
        return {}

    def run_out(self, payment: Payment) -> None:
        self.fake.books.expire(self._open(payment))

    def let_pass(self) -> None:
        self.fake.books.settle_refunds()

    def webhooks(self) -> list[SignedMessage]:
        return [({TOKEN_HEADER: self.callback_token}, body) for body in self.fake.webhooks()]

    def payout_webhooks(self) -> list[SignedMessage]:
        return [({TOKEN_HEADER: self.callback_token}, body) for body in self.fake.payout_webhooks()]

    def dispute_webhooks(self) -> list[SignedMessage]:
        return [({TOKEN_HEADER: self.callback_token}, body) for body in self.fake.dispute_webhooks()]

    def dispute(self, payment: Payment, story: Story) -> None:
        for _, stage in STORIES[story]:
            self._take_step(payment, stage)

    def begin_dispute(self, payment: Payment, **members: Any) -> str:
        """Take the money back as the payer's bank. Return the dispute's name at Xendit; `members` are its book's."""
        return self.fake.disputes.raise_dispute(self._request(payment), **members).id

    def responses(self, payment: Payment) -> list[str]:
        """Return the responses that Xendit has about a payment's disputes."""
        made = self.fake.disputes.of(payment.reference)
        return [
            response for each in made for response in ["evidence"] * each.challenges + ["accept"] * each.acceptances
        ]

    def forge(self, webhook: SignedMessage) -> SignedMessage:
        return {TOKEN_HEADER: secrets.token_urlsafe(32)}, webhook[1]

    def spoil_next(self, how: Spoilt) -> None:
        self.fake.spoil_next(how)

    def spoil_posts(self, hows: Sequence[Spoilt | None]) -> None:
        """Spoil the next requests that do something, each in its way or not."""
        self.fake.spoil_all(hows)

    def money(self, payment: Payment) -> Money:
        books = self.fake.books
        requests = [each for each in books.requests.values() if each.reference == payment.reference]
        held = sum(each.amount for each in requests if each.status == "AUTHORIZED")
        returned = sum(each.amount for each in books.refunds.values() if each.of in requests)
        return Money(held, taken=sum(each.captured for each in requests), returned=returned)

    def _take_step(self, payment: Payment, stage: Stage) -> None:
        """Take a step of a story; Xendit has no inquiries."""
        match stage:
            case Stage.CHARGEBACK:
                self.begin_dispute(payment)
            case Stage.EXPIRED | Stage.REVERSED | Stage.LOST_FINALLY:
                [made] = self.fake.disputes.of(payment.reference)
                made.move(*ENDS[stage], terminal=made.amount)

    def _request(self, payment: Payment) -> Request:
        return next(each for each in self.fake.books.requests.values() if each.reference == payment.reference)

    def _open(self, payment: Payment) -> Request:
        """Return the request on whose page the payer acts."""
        requests = self.fake.books.requests.values()
        [request] = [each for each in requests if each.id == payment.provider_ref and each.status == OPEN]
        return request


@contextmanager
def xendit_bench(sender: Send = send) -> Iterator[XenditBench]:
    """Yield a new account at a fake that listens while the block runs."""
    bench = XenditBench(sender=sender)
    with bench.fake.serving():
        yield bench

"""What a story writes is what the verbs write: each kind of charge, made both ways."""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from urllib.parse import urlsplit

import pytest
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain import settlement
from payments.domain.charging import expiry
from payments.domain.charging.attempts import payment_of
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.domain.merchants.terms import set_fee
from payments.ledger.fees import Rate
from payments.models import Attempt, Charge, Merchant
from payments.providers.base import NotFound
from payments.providers.simulator import books
from payments.providers.simulator.models import SimulatedPayment
from payments.providers.simulator.scenarios import scenario_of
from payments.quickstart.demo.shop import Shop
from payments.quickstart.demo.story import Purchase, Story
from payments.tasks import hear_simulator
from tests.charging.lateness import settle_refunds
from tests.charging.passing import let_time_pass, recover
from tests.client import (
    ANSWER_LOST,
    APPROVED,
    CHALLENGED,
    NEVER_ARRIVES,
    REFUNDS_FAIL,
    REFUNDS_WAIT,
    TELL_NOTHING,
    Api,
    made,
)
from tests.demo.shapes import shape_of_what

AMOUNT = 10_000
PURCHASE = Purchase(1, AMOUNT, "PHP", "Halo-halo")
NOTIFY = "https://sari.example/kaha"


class Way:
    """A charge, made over the API."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def take(self, kind: str = "card", number: str = APPROVED, hold: bool = False) -> None:
        redirect = {
            "success": "https://sari-store.example/paid",
            "fail": "https://sari-store.example/failed",
            "notify": NOTIFY,
        }
        card = {"card": {**TELL_NOTHING, "number": number}} if kind == "card" else {}
        source = made(self.api.post("/sources/", {"type": kind, "redirect": redirect, **card}, key="order-1-source"))
        order = {"amount": AMOUNT, "currency": "PHP", "source": source["id"], "description": "Halo-halo"}
        order |= {"capture": False} if hold else {}
        self.charge = made(self.api.post("/charges/", order, key="order-1-charge"))

    def do(self, verb: str, amount: int | None = None, number: str = "") -> None:
        body = {"amount": amount} if amount else None
        made(self.api.post(f"/charges/{self.charge['id']}/{verb}", body, key=f"order-1-{verb}{number}"))

    def give_pin(self) -> None:
        confirmation = {"confirmation_id": self.charge["action"]["confirmation_id"], "otp": "123456"}
        made(self.api.post(f"/charges/{self.charge['id']}/verify", confirmation, key="order-1-verify"))

    def pay(self) -> None:
        books.approve(self.payment, tell=True)
        self.come_back()

    def refuse(self) -> None:
        books.decline(self.payment, "payer_cancelled", tell=True)
        self.come_back()

    def come_back(self) -> None:
        self.api.client.get(urlsplit(self.payment.return_url).path)
        hear_simulator()

    def expire(self) -> None:
        let_time_pass(SimulatedPayment, "expires_at")
        hear_simulator()

    def stall(self) -> None:
        """What was sent is still on its way."""
        self.stalled = payment_of(Attempt.objects.select_related("charge__source__card").get())

    def arrive(self) -> None:
        books.book_payment(self.stalled, scenario_of(self.stalled.card))

    def settle(self) -> None:
        let_time_pass(Charge, "settle_due_at")
        settlement.settle_due()

    def release(self) -> None:
        let_time_pass(Charge, "hold_expires_at")
        expiry.void_expired_holds()

    @property
    def payment(self) -> SimulatedPayment:
        return SimulatedPayment.objects.latest("created_at")


def told(source_type: str = "card", number: str = APPROVED, *, hold: bool = False) -> Callable[[Story], None]:
    """How a story begins."""

    def begin(story: Story) -> None:
        story.wrap(source_type, {**TELL_NOTHING, "number": number} if source_type == "card" else None)
        story.take(hold=hold)

    return begin


KINDS: dict[str, tuple[Callable[[Way], None], Callable[[Merchant], None]]] = {}


def kind(name: str, over_the_api: list[Callable[[Way], object]], in_memory: list[Callable[[Story], object]]) -> None:
    def make(way: Way) -> None:
        for act in over_the_api:
            act(way)

    def tell(merchant: Merchant) -> None:
        now = clock.now()
        story = Story(Shop(merchant, Random(1), NOTIFY), PURCHASE, now - timedelta(days=5), now)
        for act in in_memory:
            act(story)
        story.rows.copy()

    KINDS[name] = (make, tell)


DECLINED = ("0002", "9995", "9987", "9979", "0069", "0127", "0119")
kind("captured", [Way.take], [told()])
kind("settled", [Way.take, Way.settle], [told(), lambda s: s.wait(days=2)])
kind("held", [lambda w: w.take(hold=True)], [told(hold=True)])
kind("captured later", [lambda w: w.take(hold=True), lambda w: w.do("capture")], [told(hold=True), Story.capture])
kind(
    "captured in part, settled",
    [lambda w: w.take(hold=True), lambda w: w.do("capture", 6_000), Way.settle],
    [told(hold=True), lambda s: s.capture(6_000), lambda s: s.wait(days=2)],
)
kind("hold voided", [lambda w: w.take(hold=True), lambda w: w.do("void")], [told(hold=True), Story.void])
kind("hold expired", [lambda w: w.take(hold=True), Way.release], [told(hold=True), Story.release])
kind("voided", [Way.take, lambda w: w.do("void")], [told(), Story.void])
kind("refunded", [Way.take, lambda w: w.do("refund", number="-1")], [told(), Story.refund])
kind(
    "settled, then refunded in two parts",
    [Way.take, Way.settle, *(lambda w, n=n: w.do("refund", 2_500, f"-{n}") for n in (1, 2))],
    [told(), lambda s: s.wait(days=1), *[lambda s: s.refund(2_500)] * 2],
)
kind(
    "refund returned",
    [lambda w: w.take(number=REFUNDS_FAIL), lambda w: w.do("refund", number="-1"), lambda w: settle_refunds()],
    [told(number=REFUNDS_FAIL), lambda s: s.end_refund(s.refund())],
)
kind(
    "refund arrived later",
    [lambda w: w.take(number=REFUNDS_WAIT), lambda w: w.do("refund", 900, "-1"), lambda w: settle_refunds()],
    [told(number=REFUNDS_WAIT), lambda s: s.end_refund(s.refund(900))],
)
kind(
    "refund pending",
    [lambda w: w.take(number=REFUNDS_WAIT), lambda w: w.do("refund", number="-1")],
    [told(number=REFUNDS_WAIT), Story.refund],
)
for ending in DECLINED:
    number = f"400000000000{ending}"
    kind(f"declined {ending}", [lambda w, n=number: w.take(number=n)], [told(number=number)])
kind("unknown", [lambda w: w.take(number=ANSWER_LOST)], [told(number=ANSWER_LOST)])
kind(
    "found approved",
    [lambda w: w.take(number=ANSWER_LOST), lambda w: recover()],
    [told(number=ANSWER_LOST), lambda s: s.look_up(s.book.outcome)],
)
kind(
    "never arrived",
    [lambda w: w.take(number=NEVER_ARRIVES), lambda w: recover()],
    [told(number=NEVER_ARRIVES), lambda s: s.look_up(NotFound())],
)
kind(
    "never arrived, by all lookups",
    [lambda w: w.take(number=NEVER_ARRIVES), *[lambda w: recover()] * 4],
    [told(number=NEVER_ARRIVES), lambda s: s.look_up(NotFound()), *[lambda s: s.take_second_look(NotFound())] * 3],
)
kind(
    "came late and went back",
    [
        lambda w: w.take(number=NEVER_ARRIVES),
        Way.stall,
        lambda w: recover(),
        Way.arrive,
        *[lambda w: recover()] * 2,
    ],
    [
        told(number=NEVER_ARRIVES),
        lambda s: s.look_up(NotFound()),
        Story.arrive,
        lambda s: s.take_second_look(s.book.outcome),
        Story.send_back,
    ],
)
kind("awaiting its payer", [lambda w: w.take(number=CHALLENGED)], [told(number=CHALLENGED)])
kind("authenticated", [lambda w: w.take(number=CHALLENGED), Way.pay], [told(number=CHALLENGED), Story.pay])
kind(
    "cancelled",
    [lambda w: w.take(number=CHALLENGED), Way.refuse],
    [told(number=CHALLENGED), lambda s: s.refuse("payer_cancelled")],
)
kind("expired", [lambda w: w.take(number=CHALLENGED), Way.expire], [told(number=CHALLENGED), Story.expire])
kind("wallet", [lambda w: w.take("gcash"), Way.pay], [told("gcash"), Story.pay])
kind("bank with a PIN", [lambda w: w.take("bpi"), Way.give_pin], [told("bpi"), lambda s: s.pay(with_pin=True)])


@pytest.mark.parametrize("name", KINDS)
def test_a_charge_told_is_written_as_one_made(name: str, api: Api, shop: NewMerchant, settings: Settings) -> None:
    settings.SIMULATOR_REFUND_DELAY_SECONDS = 3600
    twin = create_merchant("Sari Store", statement_descriptor="SARI STORE").merchant
    for merchant in (shop.merchant, twin):
        set_fee(merchant, "card", "PHP", Rate(350, 1500))
    twin.refresh_from_db()
    over_the_api, in_memory = KINDS[name]
    made_one = shape_of_what(lambda: over_the_api(Way(api)))
    assert shape_of_what(lambda: in_memory(twin)) == made_one

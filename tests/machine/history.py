"""What all rules of a history share: the merchant, what it has so far, and requests under keys."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from payments.domain.merchants.merchants import create_merchant
from payments.models import Merchant
from tests.client import Api, made
from tests.machine.books import check_books, check_invariants
from tests.machine.comparison import check_charge, check_refused
from tests.machine.customers import Customer
from tests.machine.event_reader import Events
from tests.machine.model import Charge, Named, Source
from tests.machine.sweeps import Time

DISPUTE_FEE = 75
RATES = {
    "card": {"PHP": {"basis_points": 350, "fixed": 15}},
    "dispute": {"PHP": {"basis_points": 0, "fixed": DISPUTE_FEE}},
}
# Refusals that leave a key unused, because nothing was done or the same request may succeed later.
LEAVES_KEY = {404, 422}
EVERY_OTHER_KEYLESS = 3


@dataclass(frozen=True)
class Posted(Named):
    """A request that used its key up, and how it was answered."""

    path: str
    body: Any
    key: str
    status: int
    answer: bytes

    def __repr__(self) -> str:
        return self.key


def one_of(pick: Callable[[Any], Sequence[Any]]) -> st.SearchStrategy[Any]:
    """One of what `pick` finds in the history so far; a precondition sees to it that there is one."""
    return st.runner().flatmap(lambda history: st.sampled_from(pick(history)))


class History(RuleBasedStateMachine):
    """A merchant of its own for each history, and the model beside it."""

    def __init__(self) -> None:
        super().__init__()
        shop = create_merchant("Sari Store")
        Merchant.objects.filter(id=shop.merchant.id).update(rates=RATES)
        self.api, self.live_api = Api(shop.keys["sk_test"]), Api(shop.keys["sk_live"])
        self.merchant = shop.merchant
        self.time = Time(shop.merchant)
        self.events = Events(self.api)
        self.sources: list[Source] = []
        self.charges: list[Charge] = []
        self.customers: list[Customer] = []
        self.posted: list[Posted] = []
        self.requests = 0

    def asking(self) -> list[Charge]:
        """Charges that ask their payer, or did."""
        return [charge for charge in self.charges if charge.page]

    def held(self) -> list[Charge]:
        """Charges whose hold can run out."""
        return [charge for charge in self.charges if charge.stage == "held"]

    def post(self, path: str, body: Any = None) -> HttpResponse:
        """Post, twice of three times under a key, and remember what may be repeated."""
        self.requests += 1
        if self.requests % EVERY_OTHER_KEYLESS == 0:
            return self.api.post(path, body)
        key = f"request-{self.requests}"
        response = self.api.post(path, body, key=key)
        assert "Idempotent-Replayed" not in response
        if response.status_code not in LEAVES_KEY:
            self.posted.append(Posted(path, body, key, response.status_code, response.content))
        return response

    def answers(self, charge: Charge, response: HttpResponse, refusal: str) -> None:
        """Fails unless the charge, or the refusal where there is one, is answered as in the model."""
        if refusal:
            check_refused(response, refusal)
        else:
            assert response.status_code == 200
            check_charge(made(response), charge)

    @invariant()
    def everything_is_as_in_the_model(self) -> None:
        """All charges, not only the one that the last step was about, and the events."""
        self.events.read_on()
        page = made(self.api.get("/charges/", limit=100))
        for answer, charge in zip(page["data"], reversed(self.charges), strict=True):
            check_charge(answer, charge)
            self.events.check_last(answer)

    def teardown(self) -> None:
        """Lets everything come out, unless a step has failed already, and compares the books."""
        if sys.exception():
            return
        self.find_everything_out()
        self.everything_is_as_in_the_model()
        check_books(self.charges)
        check_invariants(self.merchant)

    def find_everything_out(self) -> None:
        self.time.end_refunds()
        self.time.receive_reports()
        self.time.look_up()
        for charge in self.charges:
            charge.let_refunds_end()
            charge.receive_reports()
            charge.receive_refund_reports()
            charge.look_up()

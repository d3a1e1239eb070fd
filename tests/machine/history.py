"""What all rules of a history share: the merchant, what it has so far, and requests under keys."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from payments.domain.merchants.merchants import create_merchant
from payments.ids import parse_id
from payments.invariants.checks import check, read_only_snapshot
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Merchant, Posting
from payments.providers.simulator.models import Entry
from tests.client import Api, made
from tests.machine.comparison import OWN, check_charge, check_refused
from tests.machine.customers import Customer
from tests.machine.model import Charge, Named, Source
from tests.machine.sweeps import Time
from tests.payouts.readings import kept_balances, listed_balances

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


# A step causes few events; when there are more, the next page is read.
PAGE = 5


class Events:
    """All events so far: the last of each object, by its ID."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._newest = ""
        self.last: dict[str, dict[str, Any]] = {}

    def read_on(self) -> None:
        """Read the events since the last time. Fail unless the sequence of each object has no gap."""
        for event in reversed(list(self._new())):
            shown = event["data"]["object"]
            before = self.last.get(shown["id"], {"sequence": 0})
            assert event["sequence"] == before["sequence"] + 1, event
            self.last[shown["id"]] = event
            self._newest = event["id"]

    def check_last(self, charge: dict[str, Any]) -> None:
        """Fails unless the newest events of a charge and its refunds show them as they are now."""
        shown = self.last[charge["id"]]["data"]["object"]
        assert {name: shown[name] for name in OWN} == {name: charge[name] for name in OWN}
        for refund in charge["refunds"]:
            assert self.last[refund["id"]]["data"]["object"]["status"] == refund["status"]

    def _new(self) -> Iterator[dict[str, Any]]:
        path, query = "/events/", {"limit": PAGE}
        while path:
            page = made(self._api.get(path, **query))
            for event in page["data"]:
                if event["id"] == self._newest:
                    return
                yield event
            path, query = page.get("next", "").removeprefix("/v2"), {}


PLACES = {
    "provider_hold": "held by the provider",
    "merchant_hold": "held for the merchant",
    "provider_receivable": "at the provider or in the bank",
    "bank": "at the provider or in the bank",
    "merchant_pending": "the merchant's, or its fee",
    "merchant_payable": "the merchant's, or its fee",
    "fees": "the merchant's, or its fee",
    "refunds_in_transit": "on its way back",
}


def check_books(charges: Iterable[Charge]) -> None:
    """Fails where the money of a charge, of which everything is found out, is not what the model says."""
    for charge in charges:
        uuid = parse_id("ch", charge.name)
        reference = Attempt.objects.get(charge_id=uuid, kind="authorize").reference
        # What the payer's bank took is written by the history itself; an invariant compares it.
        entries = Entry.objects.filter(payment__reference=reference).exclude(kind__startswith="dispute")
        entries = entries.values_list("kind", "amount")
        assert _summed(entries) == _expected_entries(charge), charge
        postings = Posting.objects.filter(charge_id=uuid).values_list("account", "amount")
        assert _summed((PLACES[account], amount) for account, amount in postings) == _expected_sums(charge), charge
        fees = postings.filter(kind="dispute_fee", account="fees")
        fee = charge.dispute.fee if charge.dispute and charge.dispute.withdrawn else 0
        assert -sum(amount for _, amount in fees) == fee, charge


def check_invariants(merchant: Merchant) -> None:
    """Fails where a merchant's rows break an invariant of the money, or its transactions are not its balance."""
    with read_only_snapshot():
        found = [check(invariant, merchant.id) for invariant in INVARIANTS if invariant.of_merchants]
        assert listed_balances(merchant.id) == kept_balances(merchant.id)
    assert [(finding.invariant.name, finding.ids) for finding in found if finding.count] == []


def _expected_entries(charge: Charge) -> dict[str, int]:
    if charge.stage in ("pending", "failed"):
        return {}
    held = 0 if charge.capture_at_once else charge.amount
    arrived = [refund for refund in charge.refunds if refund.arrived]
    return _without_nothing(
        {
            "hold": held,
            "capture": charge.amount_captured,
            "release": held - charge.amount_captured if held and charge.stage != "held" else 0,
            "void": charge.amount_captured if charge.stage == "voided" else 0,
            "refund": sum(refund.amount for refund in arrived),
            "refund_returned": sum(refund.amount for refund in arrived if refund.status == "failed"),
        }
    )


def _expected_sums(charge: Charge) -> dict[str, int]:
    held = charge.amount if charge.stage == "held" else 0
    taken = charge.amount_captured if charge.stage == "captured" else 0
    under_way = sum(refund.amount for refund in charge.refunds if refund.status == "pending")
    given_back = charge.amount_refunded - under_way
    return _without_nothing(
        {
            "held by the provider": held,
            "held for the merchant": -held,
            "at the provider or in the bank": taken - given_back - charge.amount_disputed,
            "the merchant's, or its fee": charge.amount_refunded - taken + charge.amount_disputed,
            "on its way back": -under_way,
        }
    )


def _summed(lines: Iterable[Any]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for what, amount in lines:
        sums[what] += amount
    return _without_nothing(sums)


def _without_nothing(sums: dict[str, int]) -> dict[str, int]:
    return {what: amount for what, amount in sums.items() if amount}

"""Money of a route that a charge had gone on from: it goes back, whatever became of the charge."""

from collections.abc import Iterator

import pytest

from payments.domain.charging import recovery
from payments.domain.merchants.merchants import NewMerchant
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.ledger import settlement
from payments.models import Attempt, Charge
from payments.providers.base import Approved, Declined, Outcome, Payment, WebhookEvent
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import let_time_pass, recover
from tests.client import Api, made
from tests.routing.doubles import Psp, account_at, installed, route_to

pytestmark = pytest.mark.django_db(transaction=True)


class TakesAndDenies(Psp):
    """Says that a fault of its own kept it from taking the money that it took."""

    def create_payment(self, payment: Payment) -> Outcome:
        super().create_payment(payment)
        return Declined("processing_error", retryable=True)


@pytest.fixture
def charge(live: Api, south: Psp, shop: NewMerchant) -> Iterator[dict[str, object]]:
    """Paid by the second route, and taken by the first as well."""
    with installed(TakesAndDenies("north")) as north:
        for place, psp in enumerate((north, south)):
            route_to(account_at(psp, shop.merchant), position=place)
        yield live.charge()


def report() -> None:
    first = Attempt.objects.get(passed_on=True)
    recovery.apply_event(WebhookEvent(first.id.hex, Approved("pm_late", captured=True)))


def states() -> list[str]:
    return list(SimulatedPayment.objects.order_by("id").values_list("state", flat=True))


def test_it_goes_back_by_the_route_that_it_came_by(live: Api, charge: dict[str, object]) -> None:
    assert states() == ["captured", "captured"]
    for _ in range(2):
        report()
    recover()

    assert states() == ["voided", "captured"]
    assert live.read(charge)["status"] == "succeeded"
    assert Attempt.objects.get(kind="reverse").provider == "north"
    assert checks.run(INVARIANTS).failures == []


def test_until_it_is_back_the_ledger_owes_it(charge: dict[str, object]) -> None:
    report()

    assert checks.run(INVARIANTS).failures == []


def test_a_settlement_in_between_leaves_nothing(charge: dict[str, object]) -> None:
    for act in (report, recover):
        let_time_pass(Charge, "settle_due_at")
        settlement.settle_all_due()
        act()
    let_time_pass(Charge, "settle_due_at")
    settlement.settle_all_due()

    assert Charge.objects.get().settle_due_at is None
    assert checks.run(INVARIANTS).failures == []


def test_the_merchant_may_act_while_it_is_on_its_way(live: Api, charge: dict[str, object]) -> None:
    report()
    made(live.post(f"/charges/{charge['id']}/refund"))
    recover()

    assert live.read(charge)["status"] == "refunded"
    assert list(SimulatedPayment.objects.order_by("id").values_list("amount_refunded", flat=True)) == [0, 10_000]
    assert states()[0] == "voided"
    assert checks.run(INVARIANTS).failures == []

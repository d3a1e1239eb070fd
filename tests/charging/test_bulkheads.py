"""Bulkheads: whatever is slow leaves room for everybody else, and who is refused has changed nothing."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import Any

import pytest
from django.http import HttpResponse

from payments import clock
from payments.domain import bulkheads
from payments.domain.bulkheads import Bulkheads, provider_place, take_caller_place
from payments.domain.charging import expiry, recovery
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.ids import new_id
from payments.models import Attempt, Charge, IdempotencyRecord, Route, Source
from payments.providers.base import Declined, NotSent, Outcome, Payment
from payments.providers.simulator.connector import Simulator
from tests.charging.doubles import KnowsNothing, provider
from tests.client import ANSWER_LOST, CHALLENGED, Api, error_of, made
from tests.routing.conftest import live, north, south  # noqa: F401
from tests.routing.doubles import Psp, account_at, route_to

pytestmark = pytest.mark.django_db(transaction=True)

LONG_SECONDS = 60
# 8 of them are shared: one provider has 4 places, one account 3, one caller 4.
THREADS = 10


@pytest.fixture(autouse=True)
def few_threads() -> Iterator[None]:
    before = bulkheads.bulkheads()
    bulkheads.use(Bulkheads(THREADS))
    yield
    bulkheads.use(before)


@contextmanager
def slow(name: str = "simulator", count: int = 4) -> Iterator[None]:
    """So many requests of others wait for a provider."""
    with ExitStack() as places:
        for _ in range(count):
            places.enter_context(_other_threads_place(name))
        yield


@contextmanager
def _other_threads_place(name: str) -> Iterator[None]:
    proceed, held = Event(), Event()

    def hold() -> None:
        with provider_place(name, new_id()):
            held.set()
            assert proceed.wait(LONG_SECONDS)

    with ThreadPoolExecutor(1) as thread:
        holding = thread.submit(hold)
        assert wait_until(lambda: held.is_set() or holding.done(), LONG_SECONDS)
        try:
            yield
        finally:
            proceed.set()
            holding.result()


def busy(response: HttpResponse) -> None:
    assert (response.status_code, error_of(response)["code"]) == (503, "provider_unavailable")
    assert response["Retry-After"] == "1"


class Slow(Simulator):
    """Answers new payments when it is released."""

    def __init__(self) -> None:
        self.asked, self.proceed = 0, Event()

    def create_payment(self, payment: Payment) -> Outcome:
        self.asked += 1
        assert self.proceed.wait(LONG_SECONDS)
        return super().create_payment(payment)


def test_a_merchants_charges_at_a_slow_provider_leave_threads_to_others(api: Api, other_shop: NewMerchant) -> None:
    other, double = Api(other_shop.keys["sk_test"]), Slow()
    sources = [api.source() for _ in range(4)]
    last, theirs = sources.pop(), other.source()
    with provider(double), ThreadPoolExecutor(4) as threads:
        answers = [threads.submit(Api(api.key).charge_source, source) for source in sources]
        assert wait_until(lambda: double.asked == 3, LONG_SECONDS)
        body = {"amount": 100, "source": last, "description": "One too many"}
        refused = api.post("/charges/", body, key="again")
        answers.append(threads.submit(other.charge_source, theirs))
        assert wait_until(lambda: double.asked == 4, LONG_SECONDS)
        assert other.get("/charges/").status_code == 200
        double.proceed.set()
        assert [answer.result()["status"] for answer in answers] == ["succeeded"] * 4

    busy(refused)
    assert not IdempotencyRecord.objects.filter(key="again").exists()
    # The same request is taken as if it had never been sent.
    assert api.post("/charges/", body, key="again").status_code == 201


def test_a_charge_that_finds_no_place_consumes_no_source(api: Api) -> None:
    source = api.source()
    with slow():
        busy(api.post("/charges/", {"amount": 100, "source": source, "description": "Halo-halo"}, key="once"))
    assert not Charge.objects.exists()
    assert not Source.objects.get().used
    assert not IdempotencyRecord.objects.filter(key="once").exists()


CALLS: dict[str, Callable[[Api], dict[str, Any]]] = {
    "capture": lambda api: api.held(),
    "void": lambda api: api.held(),
    "refund": lambda api: api.charge(),
}


@pytest.mark.parametrize("verb", CALLS)
def test_an_operation_that_finds_no_place_writes_nothing(api: Api, verb: str) -> None:
    charge = CALLS[verb](api)
    attempts = Attempt.objects.count()
    with slow():
        busy(api.post(f"/charges/{charge['id']}/{verb}", key="once"))
    assert api.read(charge) == charge
    assert Attempt.objects.count() == attempts
    assert api.post(f"/charges/{charge['id']}/{verb}", key="once").status_code == 200


def test_a_pin_that_finds_no_place_may_be_sent_again(api: Api) -> None:
    charge = api.charge_source(api.wallet("bpi"))
    body = {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}
    with slow():
        busy(api.post(f"/charges/{charge['id']}/verify", body))
    assert made(api.post(f"/charges/{charge['id']}/verify", body))["status"] == "succeeded"


def test_a_lookup_before_an_operation_needs_a_place_too(api: Api) -> None:
    with provider(KnowsNothing()):
        charge = api.charge(ANSWER_LOST)
    tries = Attempt.objects.get().tries
    with slow():
        busy(api.post(f"/charges/{charge['id']}/refund"))
    assert Attempt.objects.get().tries == tries


def test_a_payer_who_comes_back_to_a_busy_provider_waits(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    attempt = Attempt.objects.get()
    address = recovery.attempts.return_url(attempt).partition("/return/")[2]
    with slow():
        page = api.client.get(f"/return/{address}")
    assert (page.status_code, page["Refresh"]) == (200, "3")
    assert Attempt.objects.get().updated_at == attempt.updated_at
    assert api.read(charge) == charge


def test_an_operation_gives_its_place_back_whatever_happens(api: Api) -> None:
    class Breaks(Simulator):
        def create_payment(self, payment: Payment) -> Outcome:
            raise RuntimeError

    with provider(Breaks()):
        for _ in range(THREADS):
            assert api.charge()["status"] == "pending"
    assert not bulkheads.bulkheads().providers._held


@pytest.fixture
def both_routes(shop: NewMerchant, north: Psp, south: Psp) -> None:  # noqa: F811
    """Lead live charges to `north` first, then to `south`."""
    route_to(account_at(north, shop.merchant), position=1)
    route_to(account_at(south, shop.merchant), position=2)


@pytest.mark.usefixtures("both_routes")
def test_a_route_without_a_place_is_passed_over(live: Api, north: Psp, south: Psp) -> None:  # noqa: F811
    source = live.source()
    with slow("north"):
        live.charge_source(source)
    assert (len(north.asked), len(south.asked)) == (0, 1)
    assert "too many requests" in Attempt.objects.get().chosen


@pytest.mark.usefixtures("both_routes")
def test_a_charge_does_not_continue_to_a_route_without_a_place(
    live: Api,  # noqa: F811
    north: Psp,  # noqa: F811
    south: Psp,  # noqa: F811
) -> None:
    north.answers.append(Declined("processing_error", retryable=True))
    source = live.source()
    with slow("south"):
        assert live.charge_source(source)["status"] == "failed"
    assert not south.asked


@pytest.mark.usefixtures("both_routes")
def test_a_charge_that_continues_takes_the_next_routes_place_and_gives_up_the_first(
    live: Api,  # noqa: F811
    north: Psp,  # noqa: F811
    south: Psp,  # noqa: F811
) -> None:
    north.answers.append(NotSent("connection refused"))
    held = []
    south.create_payment = lambda payment: held.append(dict(bulkheads.bulkheads().providers._held)) or NotSent("no")
    live.post("/charges/", {"amount": 100, "source": live.source(), "description": "Halo-halo"})
    assert held == [{"south": 1}]
    assert not bulkheads.bulkheads().providers._held


def test_a_merchant_with_many_requests_leaves_threads_to_others(
    api: Api, shop: NewMerchant, other_shop: NewMerchant
) -> None:
    with ExitStack() as others:
        for _ in range(4):
            others.callback(take_caller_place(shop.merchant.id))
        refused = api.post("/sources/", {"type": "gcash"}, key="once")
        assert (refused.status_code, error_of(refused)["type"], refused["Retry-After"]) == (503, "api_error", "1")
        assert Api(other_shop.keys["sk_test"]).get("/charges/").status_code == 200
    assert not Source.objects.exists()
    assert api.post("/sources/", {"type": "gcash"}, key="once").status_code == 200


def test_requests_with_a_publishable_key_take_no_thread_from_their_merchants_own(api: Api, shop: NewMerchant) -> None:
    browser = Api(shop.keys["pk_test"])
    with ExitStack() as outsiders:
        for _ in range(4):
            outsiders.callback(take_caller_place("127.0.0.1"))
        assert browser.post("/sources/", {"type": "gcash"}).status_code == 503
        assert api.get("/charges/").status_code == 200


@pytest.mark.parametrize("path", ["/charges/", "/charges/ch_none", "/charges/?limit=wrong", "/nowhere"])
def test_a_request_gives_its_callers_place_back_however_it_ends(api: Api, path: str) -> None:
    for _ in range(THREADS):
        assert api.get(path).status_code != 503
    assert not bulkheads.bulkheads().callers._held


def test_a_slow_provider_leaves_threads_and_batches_of_a_worker_to_others(
    live: Api,  # noqa: F811
    shop: NewMerchant,
    north: Psp,  # noqa: F811
    south: Psp,  # noqa: F811
) -> None:
    for position, psp in enumerate([north, south], 1):
        route_to(account_at(psp, shop.merchant), position=position)
        live.charge(ANSWER_LOST)
        Route.objects.update(enabled=False)
    Attempt.objects.update(due_at=clock.now())
    bulkheads.use(Bulkheads(8, bulkheads.PERCENT_OF_WORKER))
    with slow("north", 2):
        assert bulkheads.busy_providers() == ["north"]
        assert recovery.resolve_due(limit=1) == 1
    by_provider = dict(Attempt.objects.values_list("provider", "state"))
    assert by_provider == {"north": "unknown", "south": "done"}


def test_holds_at_a_slow_provider_keep_no_other_from_being_released(api: Api) -> None:
    api.held()
    Charge.objects.update(hold_expires_at=clock.now())
    with slow():
        assert expiry.void_expired_holds() == 0
        assert Attempt.objects.count() == 1
    assert expiry.void_expired_holds() == 1

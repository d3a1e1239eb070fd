"""Whatever the network does to a call, the connector distinguishes what surely did not happen from what may have."""

import socket
from collections.abc import Iterator

import pytest

from payments.providers.base import Approved, NotFound, NotSent, Outcome, Payment, Unknown
from payments.providers.simulator.connector import Simulator
from tests.faults.connector import RemoteSimulator
from tests.faults.jobs import IMPATIENT_SECONDS
from tests.faults.proxy import SLOW, Cut, Proxy, proxy
from tests.faults.server import simulator_server
from tests.simulator.factories import payment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

ARRIVES = {Cut.LATE, Cut.DROPPED, Cut.RESET, Cut.TRUNCATED, Cut.DELAYED}


@pytest.fixture
def port() -> Iterator[int]:
    with simulator_server() as port:
        yield port


@pytest.fixture
def cutting(port: int) -> Iterator[Proxy]:
    with proxy(port) as running:
        yield running


def what_is_known(asked: Payment) -> Outcome:
    return Simulator().resolve(asked)


def test_an_uncut_call_is_answered_as_by_the_simulator_itself(port: int) -> None:
    asked = payment("4000000000003055")

    outcome = RemoteSimulator(port).create_payment(asked)

    assert isinstance(outcome, Approved)
    assert outcome == what_is_known(asked) == RemoteSimulator(port).resolve(asked)


@pytest.mark.parametrize("cut", [cut for cut in Cut if cut is not Cut.REFUSED])
def test_a_cut_call_is_unknown_and_never_a_decline_whether_it_arrived_or_not(cutting: Proxy, cut: Cut) -> None:
    asked = payment("4000000000003055")

    outcome = RemoteSimulator(cutting.ports[cut], IMPATIENT_SECONDS if cut in SLOW else 10).create_payment(asked)
    cutting.wait_for(calls=1)

    assert isinstance(outcome, Unknown)
    assert type(what_is_known(asked)) is (Approved if cut in ARRIVES else NotFound)


def test_a_refused_connection_is_surely_not_sent(cutting: Proxy) -> None:
    asked = payment("4000000000003055")
    assert isinstance(RemoteSimulator(cutting.ports[Cut.REFUSED]).create_payment(asked), NotSent)
    assert what_is_known(asked) == NotFound()


def test_a_provider_that_never_answers_leaves_it_unknown() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        outcome = RemoteSimulator(silent.getsockname()[1], 0.1).create_payment(payment())
    assert isinstance(outcome, Unknown)

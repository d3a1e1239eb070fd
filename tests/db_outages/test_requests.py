"""Requests while PostgreSQL does not answer."""

import pytest
from django.db import connection

from payments import clock
from payments.domain.charging import recovery
from payments.embedded.processes import wait_until
from payments.ids import parse_id
from payments.models import Attempt
from payments.providers.base import Outcome
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.doubles import Do, Double, provider
from tests.client import Api, error_of
from tests.db_outages.conftest import LONG_SECONDS, Server

pytestmark = pytest.mark.long


def thaw(server: Server) -> None:
    server.thaw()
    connection.close()
    assert wait_until(lambda: connection.is_answering, LONG_SECONDS)


def test_a_request_is_answered_503_and_succeeds_later(server: Server, frozen_api: Api) -> None:
    assert frozen_api.get("/charges/").status_code == 200
    connection.close()
    server.freeze()
    # The first one waits for an answer, the second one for nothing.
    for _ in range(2):
        response = frozen_api.get("/charges/")
        assert (response.status_code, response["Retry-After"]) == (503, "1")
        assert (error_of(response)["type"], error_of(response)["code"]) == ("api_error", "internal_error")
    assert not connection.is_answering

    thaw(server)
    assert frozen_api.get("/charges/").status_code == 200


def test_a_payers_page_says_503_too(server: Server, frozen_api: Api) -> None:
    charge = frozen_api.charge_source(frozen_api.wallet())
    path = charge["action"]["url"].partition("/simulator")[2]
    connection.close()
    server.freeze()
    response = frozen_api.client.get(f"/simulator{path}")
    assert (response.status_code, response["Retry-After"]) == (503, "1")


def test_what_may_have_moved_money_is_answered_as_it_is_known(server: Server, frozen_api: Api) -> None:
    def freeze(do: Do, asked: object) -> Outcome:
        outcome = do()
        server.freeze()
        return outcome

    source = frozen_api.source()
    with provider(Double(create_payment=freeze)):
        charge = frozen_api.charge_source(source)
    assert charge["status"] == "pending"

    thaw(server)
    # What it had been sent it may do now by itself; otherwise recovery does.
    Attempt.objects.exclude(state="done").update(due_at=clock.now())
    recovery.resolve_due()
    assert frozen_api.read(charge)["status"] == "succeeded"
    reference = Attempt.objects.get(charge=parse_id("ch", charge["id"])).reference
    assert SimulatedPayment.objects.get(reference=reference).state == "captured"


@pytest.mark.parametrize("is_known", [True, False])
def test_a_charge_that_cannot_be_opened_asks_no_provider(server: Server, frozen_api: Api, is_known: bool) -> None:
    charge = frozen_api.charge()
    connection.close()
    server.freeze()
    with provider(Double(refund=lambda *_: pytest.fail("asked"))):
        if is_known:
            frozen_api.get("/charges/")
        assert frozen_api.post(f"/charges/{charge['id']}/refund", key="once").status_code == 503

    thaw(server)
    assert frozen_api.post(f"/charges/{charge['id']}/refund", key="once").status_code == 200

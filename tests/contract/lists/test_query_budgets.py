"""How many statements a call may take, transactions included; on real commits, for savepoints would count otherwise."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext

from payments.domain.merchants.merchants import NewMerchant
from tests.client import ANSWER_LOST, CHALLENGED, DECLINED, Api
from tests.contract.calls import CARD_SOURCE, order, vaulted
from tests.contract.lists.many_charges import sell

pytestmark = pytest.mark.django_db(transaction=True)

SIMULATOR = '"simulator_'


@pytest.fixture
def warm(api: Api) -> Api:
    """Return the API with an open connection and loaded data keys, as they are for nearly all requests of a worker."""
    api.source()
    return api


def statements(ask: Callable[[], HttpResponse]) -> list[str]:
    """Return the statements of a successful request, without those of the simulator's own books."""
    with CaptureQueriesContext(connection) as captured:
        response = ask()
    assert response.status_code < 300, response.content
    return _without_simulator([query["sql"] for query in captured])


def _without_simulator(sent: list[str]) -> list[str]:
    """Leaves out what touches the simulator's tables, and the transactions in which there is nothing else."""
    ours: list[str] = []
    pending: list[str] = []
    for sql in sent:
        if sql == "BEGIN":
            pending = [sql]
        elif sql in ("COMMIT", "ROLLBACK") and pending == ["BEGIN"]:
            pending = []
        elif SIMULATOR not in sql:
            ours += [*pending, sql] if pending else [sql]
            pending = []
    return ours


def test_a_request_without_a_database_question_of_its_own_reads_the_key(warm: Api) -> None:
    assert len(statements(lambda: warm.get("/ping"))) == 1


@pytest.mark.parametrize("key", [None, "once"], ids=["without key", "with key"])
@pytest.mark.parametrize("body", [CARD_SOURCE, {"type": "gcash"}], ids=["card", "wallet"])
def test_a_source_takes_three_statements(warm: Api, body: dict[str, Any], key: str | None) -> None:
    sent = statements(lambda: warm.post("/sources/", body, key))
    assert len(sent) <= 3, sent


@pytest.mark.long
@pytest.mark.parametrize("key", [None, "once"], ids=["without key", "with key"])
@pytest.mark.parametrize(
    ("number", "members"),
    [
        ("4000000000003055", {}),
        ("4000000000003055", {"capture": False}),
        (CHALLENGED, {}),
        (DECLINED, {}),
        (ANSWER_LOST, {}),
    ],
    ids=["captured", "held", "challenged", "declined", "unknown"],
)
def test_a_charge_takes_five_statements_in_all_its_phases(
    warm: Api, number: str, members: dict[str, Any], key: str | None
) -> None:
    body = order(warm.source(number), **members)
    sent = statements(lambda: warm.post("/charges/", body, key))
    assert len(sent) <= 5, sent


@pytest.mark.parametrize("make", [lambda api: api.wallet("bpi"), vaulted], ids=["debit", "vaulted"])
def test_a_charge_of_any_source_takes_five_statements(warm: Api, make: Callable[[Api], str]) -> None:
    body = order(make(warm))
    sent = statements(lambda: warm.post("/charges/", body, "once"))
    assert len(sent) <= 5, sent


@pytest.mark.parametrize("verb", ["capture", "void", "refund"])
def test_what_is_done_to_a_charge_takes_six_statements(warm: Api, verb: str) -> None:
    charge = warm.charge() if verb == "refund" else warm.held()
    sent = statements(lambda: warm.post(f"/charges/{charge['id']}/{verb}", None, "once"))
    assert len(sent) <= 6, sent


def test_a_replayed_charge_takes_three_statements(warm: Api) -> None:
    body = order(warm.source())
    warm.post("/charges/", body, "once")
    sent = statements(lambda: warm.post("/charges/", body, "once"))
    assert len(sent) <= 3, sent


@pytest.fixture
def sold(warm: Api, shop: NewMerchant) -> None:
    """More charges than a page can hold, some of them with refunds."""
    sell(shop.merchant, 110)
    for _ in range(3):
        warm.post(f"/charges/{warm.charge()['id']}/refund", {"amount": 1})


@pytest.mark.long
@pytest.mark.parametrize(
    "page",
    [
        {"limit": 1},
        {"limit": 100},
        {"limit": 1, "start_after": f"ch_{105:032x}"},
        {"limit": 100, "start_after": f"ch_{105:032x}"},
        {"limit": 100, "start_after": f"ch_{105:032x}", "status": "succeeded", "captured": "true"},
        {"limit": 100, "start_after": f"ch_{1:032x}"},
    ],
    ids=lambda page: " ".join(page.keys()) + str(page["limit"]),
)
def test_a_list_of_charges_takes_three_statements_whatever_its_length(
    warm: Api, sold: None, page: dict[str, Any]
) -> None:
    sent = statements(lambda: warm.get("/charges/", **page))
    assert len(sent) <= 3, sent


def test_one_charge_is_read_in_three_statements(warm: Api) -> None:
    charge = warm.charge()
    assert len(statements(lambda: warm.get(f"/charges/{charge['id']}"))) <= 3

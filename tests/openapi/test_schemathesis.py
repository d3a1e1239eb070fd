"""Requests made up from the document, right ones and wrong ones: none ends in an error of ours, and every answer is as
described.
"""

from collections.abc import Generator, Iterator
from random import Random
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoDbBlocker
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from payments.api.schema.introduction import TEST_CARDS
from payments.domain.merchants.merchants import create_merchant
from tests.client import Api, made
from tests.openapi.conftest import Document
from tests.openapi.test_samples import OPERATIONS
from tests.undone import undone

pytestmark = pytest.mark.long

Stock = dict[str, list[str]]

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
# The same ones in every run; `test_ends` and `tests/fuzz` send thousands more.
REQUESTS_PER_CALL = 8
# Of these calls nothing can be got wrong but the key.
WITHOUT_INPUT = ("retrieve_account", "ping", "healthy")
NUMBERS = [number for numbers, _ in TEST_CARDS for number in numbers.split(", ")]
ADDRESS = r"https?://[a-z]{1,9}\.example/[a-zA-Z0-9?=&/.-]{0,20}"
PREFIXES = {"source": "src", "source_id": "src", "customer": "cus"}
SHARE_OF_REAL_IDS = 0.8

schemathesis.openapi.format("card-number", st.sampled_from(NUMBERS))
schemathesis.openapi.format("uri", st.from_regex(ADDRESS, fullmatch=True))


@pytest.fixture(scope="module")
def schema(described: Document) -> Any:
    loaded = schemathesis.openapi.from_dict(described.content)
    loaded.app = get_wsgi_application()
    return loaded


@pytest.fixture(scope="module")
def api(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Api]:
    """Yield a merchant's API for all tests, each of which is undone."""
    with django_db_blocker.unblock(), undone():
        yield Api(create_merchant("Sari Store").keys["sk_test"])


@pytest.fixture(scope="module")
def stock(api: Api) -> Stock:
    """IDs of what is there, by prefix: charges in several states, sources used and unused, a customer, an event."""
    kept = made(api.post("/customers/", {"email": "ana@example.com", "description": "Ana"}))
    made(api.post(f"/customers/{kept['id']}/sources", {"source": api.source()}))
    debit = api.charge_source(api.wallet("bpi"))
    charges = [api.held(), api.held(), api.charge(), api.charge(), debit]
    return {
        "ch": [charge["id"] for charge in charges],
        "src": [api.source(), api.source(), api.wallet(), debit["source"]["id"]],
        "cus": [kept["id"]],
        "evt": [made(api.get("/events/", limit=1))["data"][0]["id"]],
    }


@pytest.fixture(autouse=True)
def same_connection(stock: Stock, db: None) -> Generator[None]:
    """Keep the test's transaction open after requests to the WSGI application, as Django's client does.

    After `stock`, because that client connects the signals again when it is done.
    """
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_answer_is_as_described_whatever_is_asked(
    name: str, described: Document, schema: Any, api: Api, stock: Stock
) -> None:
    calls = described.operations()
    [(method, path)] = [call for call, operation in calls.items() if operation["operationId"] == name]
    modes = [GenerationMode.POSITIVE] if name in WITHOUT_INPUT else list(GenerationMode)
    cases = st.one_of(*(schema[path][method].as_strategy(generation_mode=mode) for mode in modes))

    @given(case=cases, random=st.randoms())
    @settings(max_examples=REQUESTS_PER_CALL, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def ask(case: Any, random: Random) -> None:
        make_likely(case, stock, random)
        case.call_and_validate(headers=api.headers(), checks=CHECKS)

    ask()


def make_likely(case: Any, stock: Stock, random: Random) -> None:
    """Put IDs from `stock` and an expiry to come in place of most made-up ones, for few requests get far otherwise."""
    for place in (case.path_parameters, case.query, case.body):
        for name in [name for name in place if name in PREFIXES or name == "id"] if is_object(place) else []:
            prefix = PREFIXES.get(name) or str(place[name])[:3].rstrip("_")
            if random.random() < SHARE_OF_REAL_IDS:
                place[name] = random.choice(stock.get(prefix, [place[name]]))
    if is_object(case.body) and is_object(case.body.get("card")):
        case.body["card"]["exp_year"] = random.choice(["2039", "2040", "2019"])


def is_object(value: Any) -> bool:
    return isinstance(value, dict)

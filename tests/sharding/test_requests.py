"""Each statement of a merchant's request names its merchant, so that an engine that shards asks one server."""

from collections.abc import Iterator
from itertools import product

import pytest
from pytest_django.plugin import DjangoDbBlocker

from payments.domain.merchants.merchants import create_merchant
from tests.client import Api
from tests.contract.scopes.routes import Route, Things, things_of
from tests.contract.scopes.test_every_route import CALLS, every, every_list
from tests.sharding.guide import tables_in_guide
from tests.sharding.statement_log import recorded
from tests.undone import undone

pytestmark = [pytest.mark.django_db, pytest.mark.long]
Cast = tuple[Api, Things]

# The clock of test mode runs the sweeps, which the sharding guide lists.
SWEEPING = ("POST", "clock")


@pytest.fixture(scope="module")
def cast(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Cast]:
    """Yield a merchant's API and one of everything that it has, made once: each test is undone."""
    with django_db_blocker.unblock(), undone():
        api = Api(create_merchant("Sari Store").keys["sk_test"])
        yield api, things_of(api)


@every([(route, method) for route, method in CALLS if method != "HEAD" and (method, route.name) != SWEEPING])
def test_each_statement_of_a_request_names_its_merchant(cast: Cast, route: Route, method: str) -> None:
    api, things = cast
    with recorded() as recording:
        for _ in range(2):
            route.ask(api, method, things, **{"Idempotency-Key": "once"})
    assert recording.count
    assert recording.tables <= (tables_in_guide("list").get(route.name, set()) if method == "GET" else set())


@every_list
def test_the_guide_lists_what_lists_send_whatever_they_are_filtered_by(cast: Cast, route: Route) -> None:
    api, things = cast
    with recorded() as recording:
        api.get(route.path(things))
        for name, thing in product(route.text_filters, things.values()):
            api.get(route.path(things), **{name: thing})
    assert recording.tables == tables_in_guide("list").get(route.name, set())

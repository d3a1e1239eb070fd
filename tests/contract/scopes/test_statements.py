"""What views send to the database: no statement reaches further than the caller's merchant and mode."""

from itertools import product

import pytest
from django.db import connection

from payments.domain.merchants.api_keys import find_key
from tests.client import Api
from tests.contract.scopes.routes import Route, Things
from tests.contract.scopes.statements import Watch
from tests.contract.scopes.test_every_route import CALLS, every, every_list


# HEAD asks what GET asks.
@pytest.mark.long
@every([(route, method) for route, method in CALLS if method != "HEAD"])
@pytest.mark.parametrize("asker", ["api", "other_api", "live_api"])
def test_no_statement_reaches_further_than_its_key(
    request: pytest.FixtureRequest, things: Things, nobodys: Things, route: Route, method: str, asker: str
) -> None:
    caller: Api = request.getfixturevalue(asker)
    key = find_key(caller.key)
    for asked in (nobodys, things, things):
        watch = Watch(key.merchant_id, key.livemode)
        with connection.execute_wrapper(watch):
            route.ask(caller, method, asked, **{"Idempotency-Key": "once"})
        assert watch.loose == []


@pytest.mark.long
@every_list
@pytest.mark.parametrize("asker", ["api", "other_api", "live_api"])
def test_no_list_reaches_further_than_its_key_whatever_it_is_filtered_by(
    request: pytest.FixtureRequest, things: Things, route: Route, asker: str
) -> None:
    caller: Api = request.getfixturevalue(asker)
    key = find_key(caller.key)
    for name, thing in product(route.text_filters, things.values()):
        watch = Watch(key.merchant_id, key.livemode)
        with connection.execute_wrapper(watch):
            caller.get(route.path(things), **{name: thing})
        assert watch.loose == [], name

"""The cast of most tests: a shop and its keys, and the API as a merchant's program sees it."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
from allauth.account.internal.flows import login
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client, TransactionTestCase
from hypothesis.internal.conjecture import providers
from whitenoise.middleware import WhiteNoiseMiddleware

from payments import clock
from payments.concurrency.circuit_breaker import CircuitBreaker
from payments.domain.cards import bin_table
from payments.domain.merchants.key_cache import cached_keys
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.domain.operators import four_eyes
from tests.audited_pages import audited_pages
from tests.client import HANDLER, Api
from tests.empty_database import EmptyDatabase
from tests.high_limits import NOBODY_IS_NEW
from tests.ledger.books import charge_fees
from tests.support.receiver import Receiver

# What a test changes of a key or its merchant holds at the next request; how long it may not is in `test_known_keys`.
cached_keys.seconds = 0

# Nobody waits a day before an approval; who does is in `tests/approvals/test_new_rights.py`.
four_eyes.NEW_FOR = NOBODY_IS_NEW

# A slow hash is for passwords that somebody guesses.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

look_for_files, found = WhiteNoiseMiddleware.add_files_from_finders, dict[str, Any]()


def _look_once(middleware: WhiteNoiseMiddleware) -> None:
    if not found:
        look_for_files(middleware)
        found.update(middleware.files)
    middleware.files.update(found)


# Each client of a test loads the middleware, which looks through all static files.
WhiteNoiseMiddleware.add_files_from_finders = _look_once
# Now, because the settings of the test that makes the first request would hold for all after it.
HANDLER.load_middleware()

force_login = Client.force_login


def _force_login(client: Client, user: Any, backend: str | None = None) -> None:
    """Sign somebody in who has given the password just now."""
    force_login(client, user, backend)
    session = client.session
    session[login._AUTHENTICATION_METHODS_USER_SESSION_KEY] = str(user.pk)
    session[login.AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "password", "at": time.time()}]
    session.save()


Client.force_login = _force_login

# The same draws in every run, so that a change is judged by itself; `--hypothesis-profile default` draws anew.
# How long one takes says how busy the machine is, and nothing else.
hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("repeatable")
# Otherwise it draws constants of whatever modules other tests have loaded, and reads all their sources for that.
providers._get_local_constants = lambda: providers._local_constants


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Have the database emptied in our way after a test that commits."""
    with django_db_blocker.unblock():
        TransactionTestCase._fixture_teardown = EmptyDatabase()


@pytest.fixture(autouse=True)
def no_known_bins() -> None:
    """Have each test read its own BIN table."""
    bin_table.known_entries.cache.clear()


@pytest.fixture(autouse=True)
def _no_probe_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End the probes of servers that a test has taken away: they write lines to the log of the tests after it."""
    opened, open_ = list[CircuitBreaker](), CircuitBreaker.open

    def open_and_note(breaker: CircuitBreaker, probe: Callable[[], object]) -> bool:
        opened.append(breaker)
        return open_(breaker, probe)

    monkeypatch.setattr(CircuitBreaker, "open", open_and_note)
    yield
    for breaker in opened:
        breaker.close()


@pytest.fixture(autouse=True)
def _pages_are_audited() -> Iterator[None]:
    """Have no page of the admin change anything that the audit log does not have."""
    with audited_pages():
        yield


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what waits for a commit run where only the test's own transaction is left, as it would without one."""
    on_commit = BaseDatabaseWrapper.on_commit

    def run(connection: Any, callback: Callable[[], object], robust: bool = False) -> None:
        is_in_block = not all(block._from_testcase for block in connection.atomic_blocks)
        on_commit(connection, callback, robust) if is_in_block or robust else callback()

    monkeypatch.setattr(BaseDatabaseWrapper, "on_commit", run)


@pytest.fixture
def shop(db: None) -> NewMerchant:
    """Return a merchant with keys in both modes."""
    return create_merchant("Sari Store", statement_descriptor="SARI STORE")


@pytest.fixture
def other_shop(db: None) -> NewMerchant:
    """Return another merchant, who must not see objects of the first."""
    return create_merchant("Other Store")


@pytest.fixture
def api(shop: NewMerchant) -> Api:
    """Return the API with the shop's secret test key."""
    return Api(shop.keys["sk_test"])


@pytest.fixture
def other_api(other_shop: NewMerchant) -> Api:
    """Return the API with another merchant's secret test key."""
    return Api(other_shop.keys["sk_test"])


@pytest.fixture
def live_api(shop: NewMerchant) -> Api:
    """Return the API with the shop's secret live key."""
    return Api(shop.keys["sk_live"])


@pytest.fixture
def fees(shop: NewMerchant) -> None:
    """Set the shop's fee for card charges in pesos: 3.5 % and 15 centavos."""
    charge_fees(shop.merchant)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Yield an endpoint that takes every webhook."""
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def noon() -> Iterator[None]:
    """Set the clock to noon: in the first minutes of a day the one before is not summed up yet."""
    with clock.at(clock.now().replace(hour=12)):
        yield

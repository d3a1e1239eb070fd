"""What one merchant, a payer or anybody else does wrong is no error of anybody else's.

`python -m tests.figures neighbours` has every offence, and how long the neighbour waits.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests.empty_database import emptied_once
from tests.neighbours.offences import OFFENCES, slow_provider
from tests.neighbours.round import Servers, serving, watch
from tests.neighbours.servers import slow_provider_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# Less than the slow provider takes, and far more than any answer does by itself.
TIMEOUT_SECONDS = 5
# Errors show with few questions too; the more often somebody asks, the more it costs.
PAUSE_SECONDS = 0.2
# Few of each, so that nobody has to misbehave for long to take them all where nothing bounds it.
SMALL = {"DATABASE_CONNECTIONS": "2", "WEB_THREADS": "20", "RATE_LIMIT": "150/second"}

ALL_PROBES = {"ping", "ready", "list", "source", "charge", "webhook", "sign_in", "buy", "session", "end"}
ALL_PROBES |= {"request", "try"}

# Who is as little known as a crowd of strangers may be asked to come again, once they have their half of the room.
BUSY = {"strangers_at_sign_in": {"sign_in"}}

# All begin at the same moment.
AT_ONCE = {
    "slow_provider": partial(slow_provider, at_once=100),
    "crowd_that_waits": partial(OFFENCES["crowd_that_waits"].begin, begins_seconds=0),
    "crowd_at_slow_provider": partial(OFFENCES["crowd_at_slow_provider"].begin, begins_seconds=0),
}


@pytest.fixture(scope="module")
def servers(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Servers]:
    """Yield the servers of all offences: what one leaves there must not trouble the neighbour of the next."""
    folder = tmp_path_factory.mktemp("servers")
    with emptied_once(django_db_blocker), slow_provider_url() as slow, serving(folder, **SMALL, **slow) as servers:
        yield servers


# What is asked in the last second of these is still waited for while somebody misbehaves.
@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("hot_charge", 4),
        ("slow_provider", 4),
        ("idle_bodies", 2),
        ("public_key_flood", 2),
        ("page_flood", 2),
        ("waiting_requests", 2),
        ("hasty_assistant", 2),
        ("strangers_at_sign_in", 2),
        ("many_reservations", 3),
        ("due_checkouts", 2),
        ("due_tries", 2),
        ("test_events", 2),
        ("closed_log", 2),
        ("crowd_that_waits", 2),
        ("crowd_at_slow_provider", 2),
        # The last, for it leaves the worker thousands of webhooks.
        ("hanging_receivers", 3),
    ],
)
def test_a_neighbour_is_answered_without_an_error_while_somebody_misbehaves(
    name: str, seconds: float, servers: Servers
) -> None:
    offence = replace(OFFENCES[name], begin=AT_ONCE.get(name, OFFENCES[name].begin))
    measured = watch(servers, offence, 0, seconds, TIMEOUT_SECONDS, PAUSE_SECONDS)
    assert not measured.disturbed.errors.keys() - BUSY.get(name, set())
    assert measured.disturbed.waits.keys() == ALL_PROBES

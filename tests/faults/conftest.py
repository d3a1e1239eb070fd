"""One world for all tests of a worker; the processes of it keep no connection between two tests that anybody minds."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from payments.domain.merchants.merchants import NewMerchant
from tests.charging.doubles import provider
from tests.faults.connector import RemoteSimulator
from tests.faults.world import World, world
from tests.high_limits import MANY_DECLINES

TERMS = {"NOTIFY_ALLOW_LOOPBACK": True, "DECLINE_LIMITS_TEST": MANY_DECLINES}


@pytest.fixture(scope="session")
def shared_world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with ExitStack() as stack:
        # The processes of a world are forked with these and keep them; the tests of others get neither.
        with django_db_blocker.unblock(), override_settings(**TERMS):
            made = stack.enter_context(world())
        yield made


@pytest.fixture
def fire(shared_world: World, shop: NewMerchant) -> Iterator[World]:
    """Yield the world, with this process in it: it calls the same provider, without any fault."""
    with override_settings(**TERMS), provider(RemoteSimulator(shared_world.provider_port)):
        yield shared_world

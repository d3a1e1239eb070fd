"""A mail server for what the service sends."""

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from tests.inbox.smtp import Server, use


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """Yield a mail server that takes every mail."""
    with Server() as server:
        use(settings, server)
        yield server

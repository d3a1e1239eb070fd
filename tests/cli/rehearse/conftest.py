"""Rehearsals of the sample shop and of its broken twins."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from tests.cli.conftest import Service
from tests.cli.rehearse.shop import Shop
from tests.cli.terminal import Done, Terminal
from tests.support.http_server import answering

SECRET = "whsec_a25vd24gdG8gdGhlIHRlc3Qgb25seQ=="  # pragma: allowlist secret
Rehearse = Callable[..., Done]
Opened = Callable[[type[Shop]], AbstractContextManager[Shop]]


def addresses_of(shop: Shop) -> list[str]:
    """Return the options that say where a shop is."""
    paths = {"begin": "buy", "orders": "orders.json", "receiver": "webhooks", "refund": "refund"}
    return [part for name, path in paths.items() for part in (f"--{name}", f"{shop.address}/{path}")]


@pytest.fixture
def opened(service: Service, terminal: Terminal) -> Opened:
    """Return a context in which a shop of a new merchant runs, to which the terminal has the key."""

    @contextmanager
    def run(kind: type[Shop]) -> Iterator[Shop]:
        key = service.new_merchant_key()
        terminal.variables |= {"KAHA_KEY": key, "KAHA_WEBHOOK_SECRET": SECRET}
        shop = kind(service.url, key, SECRET)
        with answering(shop.answer) as server:
            shop.address = server.address
            yield shop

    return run


@pytest.fixture
def rehearse(opened: Opened, terminal: Terminal) -> Rehearse:
    """Return a function that rehearses a shop of this kind, and returns how that ended."""

    def run(kind: type[Shop], *options: str) -> Done:
        with opened(kind) as shop:
            return terminal.run("rehearse", *addresses_of(shop), *options)

    return run


def result_of(done: Done) -> dict[str, Any]:
    """Return the result that was printed as JSON."""
    result: dict[str, Any] = json.loads(done.out)
    return result

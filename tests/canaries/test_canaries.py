"""No card number and no security code is left anywhere, after any operation and any error."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pytest

from payments.embedded.processes import wait_until
from tests.canaries.errors import break_everything
from tests.canaries.marks import SHAPES, marked
from tests.canaries.misplaced import NUMBER
from tests.canaries.operators import Operator
from tests.canaries.payments import take_payments
from tests.canaries.places import PLACES
from tests.canaries.plant import plant
from tests.canaries.scanner import Finding, findings
from tests.canaries.service import Service, service
from tests.support.postgres import remove_linked_folders

pytestmark = pytest.mark.long

PAYMENTS = 200
AN_HOUR_AND_MORE_SECONDS = 7300
WORKER_TIMEOUT_SECONDS = 60
BROKEN_TASK = b"raised unexpected: RuntimeError"
BROKEN_LOOKUP = b"provider call broke"
# Proof that the intended errors happened and were logged without the card.
TRACES = {
    "web log": [
        b"An unexpected error ended a request.",
        b"An unexpected error ended a thread.",
        BROKEN_LOOKUP,
        b"outcome could not be recorded",
        b"Failing row contains (",
        b"[redacted]",
    ],
    "worker log": [BROKEN_TASK, BROKEN_LOOKUP, b"[redacted]"],
    "PostgreSQL's log": [b"Failing row contains (", b"Parameters: $1", b"terminating connection"],
    "dump": [b"payments_cvckey", b"Juan dela Cruz", b"No: [redacted]"],
    "Redis commands": [b"payments.tasks.run_sweep"],
    "admin pages": [b"Juan dela Cruz", b"LookupBreaks"],
    "callbacks": [b"charge.succeeded", b"refund.updated"],
    "traces": [b"kaha-web", b"kaha-worker", b"provider authorize", b"webhook attempt", b"INSERT payments_charge"],
    "Sentry": [
        b"An unexpected error ended a request.",
        b"An unexpected error ended a thread.",
        BROKEN_TASK.partition(b" ")[0],
        BROKEN_LOOKUP,
        b"Failing row contains (",
        b"[redacted]",
    ],
}


@dataclass
class Look:
    """The findings in a place: cards, and missing traces of errors."""

    size: int = 0
    found: list[Finding] = field(default_factory=list)
    missing: set[bytes] = field(default_factory=set)


@dataclass
class Looks:
    """The findings in every place: after all errors, and after a card was planted there."""

    before: dict[str, Look]
    planted: dict[str, list[Finding]]


@pytest.fixture
def looks() -> Iterator[Looks]:
    with tempfile.TemporaryDirectory(prefix="kaha-test-") as parent:
        Path(parent).chmod(0o711)
        data = Path(parent) / "data"
        with service(data) as running:
            _live_in(running)
            before = {place: _look(running, place) for place in PLACES}
            plant(running)
            planted = {place: _first(running, place) for place in PLACES}
        remove_linked_folders(data)
        yield Looks(before, planted)


# One test, because its setup takes a minute and two tests could run in two processes.
def test_no_card_is_left_anywhere_and_one_that_was_put_anywhere_is_found_there(looks: Looks) -> None:
    assert {place: [*map(str, look.found)] for place, look in looks.before.items() if look.found} == {}
    assert [place for place, found in looks.planted.items() if not found] == []
    # Everything that could leave a card has happened.
    assert [place for place, look in looks.before.items() if not look.size] == []
    assert {place: look.missing for place, look in looks.before.items() if look.missing} == {}


def _live_in(running: Service) -> None:
    break_everything(running.shop)
    _wait_for_worker(running, BROKEN_TASK, len(SHAPES))
    take_payments(running.shop, PAYMENTS)
    ready = running.ready
    with Operator(ready["api"], ready["admin_user"], ready["admin_password"]) as operator:
        assert operator.search_everywhere(NUMBER)
        operator.get_lost(NUMBER)
    _wait_for_worker(running, BROKEN_LOOKUP, 1)
    running.shop.made("/test/clock", {"advance_seconds": AN_HOUR_AND_MORE_SECONDS})
    # Its number and code lie sealed in the database while everything is looked through.
    running.shop.card(marked(11, 95))


def _wait_for_worker(running: Service, line: bytes, count: int) -> None:
    log = running.folders.log("worker")
    assert wait_until(lambda: log.read_bytes().count(line) >= count, WORKER_TIMEOUT_SECONDS), line


def _look(running: Service, place: str) -> Look:
    look = Look(missing=set(TRACES.get(place, ())))
    for where, data in PLACES[place](running):
        look.size += len(data)
        look.found += findings(data, where)
        look.missing = {trace for trace in look.missing if trace not in data}
    return look


def _first(running: Service, place: str) -> list[Finding]:
    found = (finding for where, data in PLACES[place](running) for finding in findings(data, where))
    return list(islice(found, 1))

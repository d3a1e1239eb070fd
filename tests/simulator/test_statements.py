"""How many statements a booking takes; on real commits, for savepoints would count otherwise."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments.providers.base import Payment
from tests.simulator.factories import by_type, operation, payment, simulator, taken

pytestmark = pytest.mark.django_db(transaction=True)


def statements(ask: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        ask()
    return [query["sql"] for query in captured]


@pytest.mark.parametrize(
    "asked",
    [payment(), payment(capture=False), payment("4000000000000002"), by_type("gcash")],
    ids=["taken", "held", "declined", "wallet"],
)
def test_a_payment_is_booked_by_one_statement(asked: Payment) -> None:
    sent = statements(lambda: simulator.create_payment(asked))
    assert len(sent) == 1, sent


@pytest.mark.parametrize(("kind", "capture"), [("capture", False), ("void", False), ("void", True), ("refund", True)])
def test_what_is_done_to_a_payment_is_booked_by_one_statement_after_it_was_read(kind: str, capture: bool) -> None:
    asked = operation(kind, taken(capture=capture), 3_000)
    sent = statements(lambda: getattr(simulator, kind)(asked))
    assert len(sent) == 2, sent

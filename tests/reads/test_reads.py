"""Whatever is compiled once finds what the ORM finds where it compiles the same query anew."""

import sys
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain import reads
from payments.models import ApiKey, Attempt, IdempotencyRecord, Refund
from payments.models.frozen import Frozen
from tests.domain.blocking import block_card
from tests.factories import ChargeFactory, RefundFactory

pytestmark = pytest.mark.django_db

IN_MODE = ("merchant_id", "livemode")
# What each query is given, by the names of the stage below.
READS: dict[Frozen[Any, Any], tuple[str, ...]] = {
    reads.key: ("digest",),
    reads.idempotency_record: (*IN_MODE, "key"),
    reads.source: (*IN_MODE, "source_id"),
    reads.source_to_charge: (*IN_MODE, "source_id", "now"),
    reads.charge: (*IN_MODE, "charge_id"),
    reads.charge_of_attempt: ("charge_id",),
    reads.attempt: ("attempt_id",),
    reads.attempt_asked_first: ("charge_id", "route_id"),
    reads.authorizing_attempt: ("charge_id",),
}
NAMES = [query.build.__name__ for query in READS]


@pytest.fixture
def stage() -> SimpleNamespace:
    """A charge on a blocked card, with a refund that succeeded and one that failed, and a key in use."""
    charge = ChargeFactory(is_part_refunded=True)
    RefundFactory(charge=charge, amount=1, status=Refund.Status.FAILED)
    block_card(lasts=timedelta(hours=1))
    key = ApiKey.objects.create(merchant=charge.merchant, livemode=False, kind="secret", digest=b"d" * 32, last4="0")
    IdempotencyRecord.objects.create(merchant=charge.merchant, livemode=False, key="once", fingerprint=b"f" * 32)
    return SimpleNamespace(
        merchant_id=charge.merchant_id,
        livemode=False,
        source_id=charge.source_id,
        charge_id=charge.id,
        attempt_id=Attempt.objects.get().id,
        route_id=None,
        digest=bytes(key.digest),
        key="once",
        now=clock.now(),
    )


def facts(value: Any, seen: frozenset[int] = frozenset()) -> Any:
    """Everything that is at hand of a row, what is joined with it and hangs on it too."""
    if isinstance(value, list):
        return [facts(row, seen) for row in value]
    if not isinstance(value, Model) or id(value) in seen:
        return value
    seen |= {id(value)}
    state, hidden = value._state, ("_state", "_prefetched_objects_cache")
    own = {name: facts(member, seen) for name, member in vars(value).items() if name not in hidden}
    joined = {name: facts(row, seen) for name, row in state.fields_cache.items()}
    return type(value), own, joined, state.adding, state.db


@pytest.mark.parametrize("query", READS, ids=NAMES)
def test_the_rows_are_those_of_the_orm(query: Frozen[Any, Any], stage: SimpleNamespace) -> None:
    given = {name: getattr(stage, name) for name in READS[query]}
    expected = facts(list(query.build(**given)))
    assert len(expected) == 1
    assert [facts(query(**given)), facts(query(**given))] == [expected, expected]


@pytest.mark.parametrize("query", READS, ids=NAMES)
def test_it_asks_as_often_as_the_orm(query: Frozen[Any, Any], stage: SimpleNamespace) -> None:
    given = {name: getattr(stage, name) for name in READS[query]}
    with CaptureQueriesContext(connection) as by_orm:
        list(query.build(**given))
    with CaptureQueriesContext(connection) as compiled:
        query(**given)
    assert len(compiled) == len(by_orm)


def test_every_query_that_is_compiled_once_is_looked_at_here() -> None:
    rooms = [module for name, module in sys.modules.items() if name.startswith(("payments.", "customers."))]
    found = {each for module in rooms for each in vars(module).values() if isinstance(each, Frozen)}
    assert found == READS.keys()

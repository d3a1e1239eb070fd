"""How a query that is compiled once takes its values."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.db.compiled_query import MOST_STATEMENTS, CompiledQuery
from payments.models import Card, Charge, Merchant, Source
from payments.rendering.objects.charges import CHARGE
from tests.concurrency import at_once
from tests.factories import ChargeFactory, SourceFactory

pytestmark = pytest.mark.django_db


def newest_sources(*, merchant_id: UUID, used: bool | None, length: int) -> QuerySet[Source]:
    """Return a query of each kind of value: in a slot, a boolean, a number; the text counts how often it is made."""
    return Source.objects.filter(merchant_id=merchant_id, used=used).order_by("-id")[:length]


def counted(build: Callable[..., QuerySet[Any]]) -> tuple[CompiledQuery[Any, Any], list[dict[str, Any]]]:
    """Return the query of `build`, and what that was called with."""
    calls: list[dict[str, Any]] = []

    def building(**given: Any) -> QuerySet[Any]:
        calls.append(given)
        return build(**given)

    return CompiledQuery(building), calls


def test_other_values_find_other_rows_by_the_same_text() -> None:
    query, made = counted(newest_sources)
    for source in SourceFactory.create_batch(3):
        assert query(merchant_id=source.merchant_id, used=False, length=5) == [source]
    assert len(made) == 1


def test_booleans_and_numbers_are_distinct() -> None:
    query, made = counted(newest_sources)
    fresh = SourceFactory()
    used = SourceFactory(merchant=fresh.merchant, used=True)
    newer = SourceFactory(merchant=fresh.merchant)
    where = {"merchant_id": fresh.merchant_id}
    assert query(**where, used=False, length=5) == [newer, fresh]
    assert query(**where, used=True, length=5) == [used]
    assert query(**where, used=False, length=1) == [newer]
    assert len(made) == 3


def test_none_is_null() -> None:
    query = CompiledQuery(lambda *, settled_at: Charge.objects.filter(settled_at=settled_at))
    moment = clock.now()
    open_one, settled = ChargeFactory(is_captured=True), ChargeFactory(is_captured=True, settled_at=moment)
    assert query(settled_at=None) == [open_one]
    assert query(settled_at=moment) == [settled]


def test_a_value_is_no_part_of_the_sql() -> None:
    texts: list[str] = []
    query = CompiledQuery(lambda *, kind: Source.objects.filter(type=kind))
    with connection.execute_wrapper(lambda execute, sql, *rest: texts.append(sql) or execute(sql, *rest)):
        assert [query(kind=text) for text in ("gcash", "'; DROP TABLE x --", "100%s")] == [[], [], []]
    assert len(set(texts)) == 1
    assert texts[0].endswith('WHERE "payments_source"."type" = %s')


def test_what_is_the_same_for_all_calls_is_part_of_the_sql() -> None:
    given: list[Any] = []
    charge = ChargeFactory(description="100%s 'off'")
    query = CompiledQuery(lambda *, charge_id: Charge.objects.filter(id=charge_id, description="100%s 'off'"))
    with connection.execute_wrapper(
        lambda execute, sql, params, *rest: given.append(params) or execute(sql, params, *rest)
    ):
        assert query(charge_id=charge.id) == [charge]
    assert given == [[charge.id]]


def test_a_datetime_that_is_not_a_value_is_refused() -> None:
    query = CompiledQuery(lambda *, kind: Source.objects.filter(type=kind, created_at__lt=clock.now()))
    with pytest.raises(TypeError, match="datetime"):
        query(kind="card")


def test_a_value_of_another_kind_is_refused() -> None:
    query = CompiledQuery(lambda *, merchant: Source.objects.filter(merchant=merchant))
    with pytest.raises(KeyError):
        query(merchant=Merchant())


def test_only_so_many_texts_are_kept() -> None:
    query, made = counted(newest_sources)
    merchant_id = SourceFactory().merchant_id
    for length in range(1, MOST_STATEMENTS + 2):
        query(merchant_id=merchant_id, used=False, length=length)
    query(merchant_id=merchant_id, used=False, length=1)
    assert len(made) == MOST_STATEMENTS + 2


def test_what_hangs_on_rows_knows_them() -> None:
    charges = [ChargeFactory(is_part_refunded=True), ChargeFactory(is_captured=True)]
    query = CompiledQuery(lambda: Charge.objects.whole().order_by("id"))
    with CaptureQueriesContext(connection) as captured:
        found = query()
        assert [[refund.charge for refund in charge.refund_list] for charge in found] == [[charges[0]], []]
    assert len(captured) == 1


def test_rows_for_rendering_are_rendered_as_instances_are() -> None:
    ChargeFactory(is_part_refunded=True)
    ChargeFactory(is_captured=True, created_at=clock.now().replace(microsecond=0))
    Card.objects.filter(source=ChargeFactory(metadata={"kilos": 1.5}).source).delete()
    shown = CompiledQuery(lambda: Charge.objects.shown().order_by("id"), for_rendering=True)()
    whole = CompiledQuery(lambda: Charge.objects.whole().order_by("id"))()
    assert [CHARGE.render(row) for row in shown] == [CHARGE.render(charge) for charge in whole]
    assert [bool(row.refund_list) for row in shown] == [True, False, False]


@pytest.mark.django_db(transaction=True)
def test_threads_find_their_own_rows() -> None:
    query = CompiledQuery(newest_sources)
    sources = SourceFactory.create_batch(8)
    found = at_once(8, lambda number: query(merchant_id=sources[number].merchant_id, used=False, length=5))
    assert found == [[source] for source in sources]

"""A row that is written by a text made once is the row that the ORM writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Model
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from customers.models import Customer, CustomerSource
from payments.db.writes import BulkInsert, Insert, Update, execute_writes
from payments.models import Attempt, Card, Charge, Event, IdempotencyRecord, Posting, Refund, Source, Webhook
from payments.models.charging.charge import AMOUNT_MAX
from payments.providers.simulator.models import SimulatedOperation, SimulatedPayment
from tests.client import Api, made
from tests.factories import ChargeFactory
from tests.webhooks.test_outbox import NOTIFIED

pytestmark = pytest.mark.django_db

OWN = (Source, Card, Charge, Attempt, Refund, Event, Webhook, Posting, IdempotencyRecord, Customer, CustomerSource)
WRITTEN = (*OWN, SimulatedPayment, SimulatedOperation)
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=9)
WRITINGS = st.sampled_from(["", "'; --", "%s %% $1", "\\", '"']) | TEXTS
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WRITINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WRITINGS, inner, max_size=3),
    max_leaves=5,
)


@contextmanager
def undone() -> Iterator[None]:
    """Roll everything within back, with foreign keys off."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
        yield
        transaction.set_rollback(True)


def texts_of(model: type[Model]) -> list[str]:
    """Return each row as PostgreSQL writes it."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT t::text FROM {model._meta.db_table} t ORDER BY 1")
        return [text for (text,) in cursor.fetchall()]


def values_of(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def own(row: Model) -> dict[str, Any]:
    """Return what a guard of the row matches: its ID, and its merchant if it has one."""
    values = values_of(row)
    return {"id": row.pk} | {name: values[name] for name in ("merchant_id",) if name in values}


@pytest.fixture
def held() -> Charge:
    return ChargeFactory(is_held=True)


@pytest.fixture
def played(api: Api) -> None:
    """Yield rows of every kind that requests write, with most of their columns filled."""
    source = api.source(redirect=NOTIFIED, metadata={"z": 1, "a": [None, "%s"]})
    charge = api.charge_source(source, metadata={"order": "o'17 $1"})
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 100}, key="refund"))
    customer = made(api.post("/customers/", {"email": "juan@shop.example", "description": "Juan"}))
    made(api.post(f"/customers/{customer['id']}/sources", {"source": api.source()}))


def test_every_row_that_a_request_writes_is_inserted_and_updated_as_the_orm_has_it(played: None) -> None:
    for model in WRITTEN:
        rows, before = list(model._base_manager.all()), texts_of(model)
        assert rows, model
        with undone():
            model._base_manager.all()._raw_delete("default")
            execute_writes(*map(Insert, rows[1:]), BulkInsert(rows[:1]))
            assert texts_of(model) == before
            execute_writes(*(Update(model, own(row), values_of(row)) for row in rows))
            assert texts_of(model) == before


@pytest.mark.long
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    asked=st.fixed_dictionaries(
        {"response": JSON}, optional={"qr": WRITINGS, "tries": st.integers(0, 2**31 - 1), "outage_at": st.none()}
    ),
    charged=st.fixed_dictionaries(
        {"metadata": JSON},
        optional={"description": WRITINGS, "amount": st.integers(1, AMOUNT_MAX), "require_auth": st.booleans()},
    ),
)
def test_whatever_is_updated_is_put_as_the_orm_puts_it(
    held: Charge, asked: dict[str, Any], charged: dict[str, Any]
) -> None:
    with undone():
        Attempt.objects.filter(charge=held).update(**asked)
        Charge.objects.filter(id=held.id).update(**charged)
        expected = texts_of(Attempt), texts_of(Charge)
    with undone():
        execute_writes(
            Update(Attempt, {"charge": held.id, "merchant_id": held.merchant_id}, asked),
            Update(Charge, own(held), charged),
        )
        assert (texts_of(Attempt), texts_of(Charge)) == expected

"""Several writes in one statement are made or none, and rules of a row are one constraint."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, OperationalError, connection, transaction
from psycopg.errors import CheckViolation

from payments import clock
from payments.db.checks import RowRules
from payments.db.writes import Delete, Insert, LockShared, StaleRow, Update, Write, execute_writes, insert_if_absent
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, Charge, Event, Source
from tests.client import Api
from tests.concurrency import at_once
from tests.factories import ChargeFactory

pytestmark = pytest.mark.django_db

Match = dict[str, Any]
GUARDED: dict[str, Callable[[Match], Write]] = {
    "update": lambda match: Update(Event, match, {"payload": b"[]"}),
    "delete": lambda match: Delete(Event, match),
    "require": lambda match: LockShared(Event, match),
}
every_guarded = pytest.mark.parametrize("guarded", GUARDED.values(), ids=GUARDED)
OTHERWISE: dict[str, Match] = {
    "another": {"id": UUID(int=1)},
    "of another version": {"sequence": 2},
    "NULL where there is something": {"type": None},
    "something where there is NULL": {"api_key_id": UUID(int=1)},
}
HOSTILE = "'; DROP TABLE payments_event; -- %s %(id)s %% $1 \\"


@pytest.fixture
def charge() -> Charge:
    return ChargeFactory(is_held=True)


def event_of(charge: Charge, sequence: int = 1) -> Event:
    """Return a new event; its object has one of each sequence."""
    return Event(
        merchant_id=charge.merchant_id,
        livemode=False,
        type="charge.updated",
        object_id=charge.id,
        sequence=sequence,
        payload=b"{}",
    )


def own(row: Charge | Event | Source, **values: Any) -> Match:
    return {"id": row.id, "merchant_id": row.merchant_id, **values}


def unchanged(event: Event) -> Match:
    return own(event, sequence=event.sequence, type=event.type, api_key_id=None)


def texts(do: Callable[[], None]) -> list[str]:
    """Return the statements that are sent, without their values."""
    sent: list[str] = []

    def watch(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        sent.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(watch):
        do()
    return sent


@every_guarded
@pytest.mark.parametrize("wrong", OTHERWISE.values(), ids=OTHERWISE)
def test_a_guard_that_is_not_met_undoes_all(charge: Charge, guarded: Callable[[Match], Write], wrong: Match) -> None:
    known = event_of(charge)
    known.save(force_insert=True)
    new = event_of(charge, 3)
    another = Update(Charge, own(charge), {"version": 9})
    with pytest.raises(StaleRow), transaction.atomic():
        execute_writes(Insert(new), guarded(unchanged(known) | wrong), another)
    assert list(Event.objects.values_list("id", "payload")) == [(known.id, b"{}")]
    assert Charge.objects.get().version == 1


@every_guarded
def test_a_guard_that_is_met_by_two_rows_undoes_all(charge: Charge, guarded: Callable[[Match], Write]) -> None:
    for sequence in (1, 2):
        event_of(charge, sequence).save(force_insert=True)
    with pytest.raises(StaleRow), transaction.atomic():
        execute_writes(guarded({"object_id": charge.id, "merchant_id": charge.merchant_id}))
    assert list(Event.objects.values_list("payload", flat=True)) == [b"{}", b"{}"]


@every_guarded
def test_a_guard_that_is_met_lets_all_be_written(charge: Charge, guarded: Callable[[Match], Write]) -> None:
    known = event_of(charge)
    known.save(force_insert=True)
    execute_writes(Insert(event_of(charge, 3)), guarded(unchanged(known)))
    assert Event.objects.filter(sequence=3).exists()


def test_a_constraint_undoes_all_and_says_its_name(charge: Charge) -> None:
    known = event_of(charge)
    known.save(force_insert=True)
    doubled = event_of(charge, 2)
    doubled.id = known.id
    with pytest.raises(IntegrityError, match=r"payments_event_\w+_pkey"), transaction.atomic():
        execute_writes(Update(Charge, own(charge), {"version": 9}), Insert(doubled))
    assert Charge.objects.get().version == 1


def test_a_conflict_of_the_first_write_is_found_before_any_other(charge: Charge) -> None:
    known = event_of(charge)
    known.save(force_insert=True)
    doubled = event_of(charge, 2)
    doubled.id = known.id
    conflicts = {"pkey": Insert(doubled), "object_id_sequence": Insert(event_of(charge))}
    for (name, first), other in zip(conflicts.items(), reversed(conflicts.values()), strict=True):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            execute_writes(first, Insert(event_of(charge, 3)), other)


def test_a_guard_that_is_not_met_is_found_before_a_conflict_of_what_follows(charge: Charge) -> None:
    event_of(charge).save(force_insert=True)
    stale = Update(Charge, own(charge, version=2), {"version": 3})
    met = Update(Source, own(charge.source), {"version": 9})
    with pytest.raises(StaleRow), transaction.atomic():
        execute_writes(stale, Insert(event_of(charge)), met)


def test_what_follows_the_last_guarded_write_is_undone_with_it(charge: Charge) -> None:
    stale = Update(Charge, own(charge, version=2), {"version": 3})
    with pytest.raises(StaleRow), transaction.atomic():
        execute_writes(Insert(event_of(charge)), stale, Insert(event_of(charge, 3)), Insert(event_of(charge, 4)))
    assert not Event.objects.exists()


@every_guarded
@pytest.mark.parametrize("match", [{"id": UUID(int=1)}, {"id": UUID(int=1), "merchant_id": None}])
def test_a_guard_that_does_not_name_the_merchant_is_refused(guarded: Callable[[Match], Write], match: Match) -> None:
    with pytest.raises(TypeError, match="A guarded write of Event must match merchant_id"):
        execute_writes(guarded(match))


@every_guarded
def test_a_row_of_another_merchant_does_not_meet_a_guard(
    charge: Charge, other_shop: NewMerchant, guarded: Callable[[Match], Write]
) -> None:
    known = event_of(charge)
    known.save(force_insert=True)
    with pytest.raises(StaleRow), transaction.atomic():
        execute_writes(guarded(unchanged(known) | {"merchant_id": other_shop.merchant.id}))


def test_one_row_is_inserted_once(charge: Charge) -> None:
    event = event_of(charge)
    assert [insert_if_absent(event), insert_if_absent(event)] == [True, False]
    assert Event.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_outside_of_a_transaction_writes_commit_and_call_back(charge: Charge) -> None:
    called = threading.Event()
    execute_writes(Insert(event_of(charge), called.set), Insert(event_of(charge, 3), called.set))
    assert called.is_set()
    assert at_once(1, lambda _: Event.objects.count()) == [2]


@pytest.mark.django_db(transaction=True)
def test_outside_of_a_transaction_a_stale_row_leaves_nothing(charge: Charge) -> None:
    called = threading.Event()
    with pytest.raises(StaleRow):
        execute_writes(Insert(event_of(charge), called.set), Update(Charge, own(charge, version=2), {"version": 3}))
    execute_writes(LockShared(Charge, own(charge, version=1)))
    assert not called.is_set()
    assert not Event.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_in_a_transaction_callbacks_wait_for_the_commit(charge: Charge) -> None:
    called = threading.Event()
    with transaction.atomic():
        execute_writes(Insert(event_of(charge), called.set))
        assert not called.is_set()
    assert called.is_set()


@pytest.mark.django_db(transaction=True)
def test_what_is_required_may_be_required_by_others_and_changed_by_nobody(charge: Charge) -> None:
    required = LockShared(Charge, own(charge, authorized=True))

    def change(_: int) -> None:
        with transaction.atomic():
            Charge.objects.select_for_update(nowait=True, no_key=True).get(id=charge.id)

    with transaction.atomic():
        execute_writes(required)
        at_once(1, lambda _: execute_writes(required))
        with pytest.raises(OperationalError, match="could not obtain lock"):
            at_once(1, change)
    at_once(1, change)


def test_whatever_the_values_are_the_text_is_the_same(charge: Charge) -> None:
    def write(description: str, guard: int) -> list[str]:
        values = {"description": description, "metadata": {description: description}}
        return texts(lambda: execute_writes(Update(Charge, own(charge, version=guard), values)))

    assert write("Halo-halo", 1) == write(HOSTILE, 1)
    row = Charge.objects.get(id=charge.id, description=HOSTILE)
    assert row.metadata == {HOSTILE: HOSTILE}


def test_the_same_names_in_another_order_or_guarded_by_nothing_are_another_text(charge: Charge) -> None:
    execute_writes(Update(Charge, own(charge, settled_at=None), {"version": 2, "hold_extended_days": 3}))
    execute_writes(Update(Charge, {"settled_at": None, **own(charge)}, {"hold_extended_days": 5, "version": 4}))
    with pytest.raises(StaleRow), transaction.atomic():
        execute_writes(Update(Charge, own(charge, settled_at=clock.now()), {"version": 6}))
    row = Charge.objects.get()
    assert (row.version, row.hold_extended_days) == (4, 5)


[RULES] = [each for each in Charge._meta.constraints if isinstance(each, RowRules)]


def overdraw() -> int:
    return Charge.objects.update(amount_captured=1_000_000)


def test_an_error_names_table_and_rule() -> None:
    ChargeFactory(is_captured=True)
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        overdraw()
    cause = caught.value.__cause__
    assert isinstance(cause, CheckViolation)
    assert (cause.diag.table_name, cause.diag.constraint_name) == ("payments_charge", "charge_captured_within_amount")


def test_a_rule_whose_condition_is_null_holds(api: Api) -> None:
    api.charge()
    assert Attempt.objects.update(answer_status=None) == 1


def test_a_form_finds_what_the_database_would_refuse() -> None:
    charge = ChargeFactory(is_captured=True)
    charge.amount_captured = charge.amount + 1
    with pytest.raises(ValidationError, match="charge_captured_within_amount"):
        charge.validate_constraints()


def test_rules_can_be_dropped_and_made_again() -> None:
    ChargeFactory(is_captured=True)
    with transaction.atomic():
        with connection.schema_editor() as editor:
            editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            editor.remove_constraint(Charge, RULES)
        assert overdraw() == 1
        transaction.set_rollback(True)
    with connection.schema_editor() as editor:
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        editor.remove_constraint(Charge, RULES)
        editor.add_constraint(Charge, RULES)
    with pytest.raises(IntegrityError, match="charge_captured_within_amount"), transaction.atomic():
        overdraw()


def test_rules_that_say_the_same_are_equal() -> None:
    assert RULES.clone() == RULES
    assert RowRules(name=RULES.name, rules={}) != RULES

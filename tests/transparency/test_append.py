"""Each committed journal gets one leaf, also if a worker crashes or two append at once."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from payments import failpoints
from payments.failpoints import Failpoint
from payments.ledger.transparency import append, heads, tree
from payments.models import LogHead, LogLeaf, LogNode, LogProgress, Posting
from payments.tasks import run_sweep
from tests.client import Api, made
from tests.concurrency import at_once
from tests.transparency.log import KEY, faults, open_horizon, see_all, signed, verify

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("open_horizon")]
__all__ = ["open_horizon"]
STEPS = (Failpoint.LEAVES_READ, Failpoint.LEAVES_WRITTEN, Failpoint.TREE_GROWN)


class Crash(BaseException):
    pass


def crash_at(step: Failpoint) -> None:
    def listener(reached: Failpoint) -> None:
        if reached is step:
            raise Crash

    failpoints.listen(listener)


@pytest.fixture(autouse=True)
def no_crash_is_left() -> Iterator[None]:
    yield
    failpoints.listen(None)


def check_log() -> None:
    """Each journal has one leaf, numbered without gaps, and the root is that of all of them."""
    leaves = list(LogLeaf.objects.order_by("number"))
    journals = set(Posting.objects.values_list("journal", flat=True))
    assert [leaf.number for leaf in leaves] == list(range(len(journals)))
    assert {leaf.journal for leaf in leaves} == journals
    firsts = Posting.objects.filter(line=1).values_list("id", flat=True)
    lines, expected = append.lines_of(list(firsts)), verify.Tree()
    for leaf in leaves:
        expected.add(append.hash_of(leaf.journal, bytes(leaf.salt), lines[leaf.journal]))
    assert tree.root_of(len(leaves)) == expected.root()


def test_a_life_of_charges_is_logged_in_order(api: Api) -> None:
    made(api.post(f"/charges/{api.charge()['id']}/refund", {"amount": 2_500}))
    assert append.append() == len({*Posting.objects.values_list("journal")})
    check_log()
    api.held()
    assert append.append() == 1
    assert append.append() == 0
    check_log()


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_leaves_no_gap_and_nothing_twice(api: Api, step: Failpoint) -> None:
    api.held()
    append.append()
    api.charge()
    crash_at(step)
    with pytest.raises(Crash):
        append.append()
    assert LogProgress.objects.get().size == LogLeaf.objects.count() == 1
    failpoints.listen(None)
    api.held()
    append.append()
    check_log()
    assert LogNode.objects.filter(id__lt=tree.LEVEL_0_END).count() == LogLeaf.objects.count()


def test_two_workers_at_once_append_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(4):
        api.held()
    monkeypatch.setattr(append, "BATCH", 1)
    at_once(3, lambda _: append.append())
    append.append()
    check_log()


def test_a_journal_that_is_not_committed_is_waited_for(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the real horizon: one of another transaction, which began earlier and commits later, is not read past."""
    monkeypatch.undo()
    began, end = threading.Event(), threading.Event()

    def hold() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN; SELECT pg_current_xact_id()")
            began.set()
            end.wait(30)
            cursor.execute("COMMIT")
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert began.wait(30)
    try:
        api.held()
        assert append.append() == 0
    finally:
        end.set()
        thread.join()


@pytest.mark.parametrize("key", ["", f"t1:{KEY}"])
def test_what_was_read_past_is_appended_after_hours_without_a_worker_too(
    api: Api, settings: Any, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Slice by slice, with and without a key that signs heads."""
    settings.TRANSPARENCY_KEYS = key
    for _ in range(3):
        api.held()
    LogProgress.objects.create(posting_id=Posting.objects.latest("id").id)
    api.charge()
    assert run_sweep("append_to_log")
    assert LogLeaf.objects.count() < len({*Posting.objects.values_list("journal")})
    later = datetime.now(UTC) + timedelta(hours=9)
    monkeypatch.setattr("payments.clock.now", lambda: later)
    monkeypatch.setattr(append, "SLICE", 2)
    monkeypatch.setattr(append, "BATCH", 1)
    run_sweep("append_to_log")
    check_log()


def test_a_head_of_the_future_keeps_no_head_from_being_signed(api: Api) -> None:
    api.charge()
    LogHead.objects.create(size=1, signed_at=datetime.now(UTC) + timedelta(days=1), note="")
    assert heads.sign_if_due()
    assert not heads.sign_if_due()


def test_a_head_is_signed_once_an_hour(api: Api, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not heads.sign_if_due(), "the log is empty"
    api.charge()
    assert heads.sign_if_due()
    assert not heads.sign_if_due()
    later = datetime.now(UTC) + timedelta(minutes=61)
    monkeypatch.setattr("payments.clock.now", lambda: later)
    assert heads.sign_if_due()
    settings.TRANSPARENCY_KEYS = ""
    assert not heads.sign_if_due(), "there is no key"


def test_no_head_is_signed_while_the_log_is_an_hour_behind(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.held()
    append.append()
    api.held()
    later = datetime.now(UTC) + timedelta(hours=2)
    monkeypatch.setattr("payments.clock.now", lambda: later)
    assert heads.sign() is None
    append.append()
    assert heads.sign()


def test_the_database_refuses_to_change_the_log(api: Api) -> None:
    api.charge()
    signed()
    for table in ("logleaf", "lognode", "loghead"):
        for statement in (f"DELETE FROM payments_{table}", f"UPDATE payments_{table} SET salt = salt"):
            text = statement.replace("salt", {"lognode": "hash", "loghead": "note"}.get(table, "salt"))
            with pytest.raises(Exception, match="are never changed"), connection.cursor() as cursor:
                cursor.execute(text)


def test_a_charge_writes_nothing_to_the_log(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = list[str]()

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        api.charge()
    assert [sql for sql in statements if "payments_log" in sql] == []
    assert LogLeaf.objects.count() == LogProgress.objects.count() == 0
    see_all(monkeypatch)
    assert faults(signed()) == []

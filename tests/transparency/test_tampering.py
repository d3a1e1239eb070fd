"""An operator with all rights in the database, and triggers off, is found by the auditor's program and its head."""

import base64
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from payments import clock
from payments.domain.merchants.merchants import create_merchant
from payments.domain.transparency import export
from payments.ids import new_id
from payments.ledger.transparency import append, heads, tree
from payments.ledger.transparency.leaves import COLUMNS
from payments.models import Card, LogHead, LogLeaf, LogNode, LogProgress, Merchant, Posting, Source
from payments.vault.signatures import origin, signed_note
from tests.client import Api
from tests.invariants.history import History
from tests.transparency.log import KEY, faults, keys, see_all, sign_all, signed, verify

pytestmark = pytest.mark.django_db
# What an operator may write into a column of a posting, by an expression that is never what is there.
OTHER = {
    "account": "CASE account WHEN 'bank' THEN 'fees' ELSE 'bank' END",
    "kind": "CASE kind WHEN 'late' THEN 'fee' ELSE 'late' END",
    "amount": "amount + {number}",
    "currency": "CASE currency WHEN 'USD' THEN 'EUR' ELSE 'USD' END",
    "livemode": "NOT livemode",
    "created_at": "created_at + interval '{number} microseconds'",
    "line": "line + 1 + {number} % 19",
    "journal": "gen_random_uuid()",
    **dict.fromkeys(
        ("id", "merchant_id", "charge_id", "payout_id", "attempt_id", "settlement_id"), "gen_random_uuid()"
    ),
}
# What the database itself would refuse, also with triggers off.
FREE = """
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE payments_posting DROP CONSTRAINT posting_follows_rules;
DROP INDEX posting_starts_journal_once
"""


@pytest.fixture(scope="module")
def log(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[LogHead]:
    """Yield the head of the log of a busy history, made once, and rolled back after the module."""
    settings = override_settings(SIMULATOR_REFUND_DELAY_SECONDS=3600, TRANSPARENCY_KEYS=f"t1:{KEY}")
    with django_db_blocker.unblock(), transaction.atomic(), settings, pytest.MonkeyPatch.context() as patch:
        see_all(patch)
        patch.setattr(export, "read_only_snapshot", transaction.atomic)
        History(Api(create_merchant("Sari Store", statement_descriptor="SARI STORE").keys["sk_test"]))
        head = signed()
        with connection.cursor() as cursor:
            for statement in FREE.split(";"):
                cursor.execute(statement)
        yield head
        transaction.set_rollback(True)


@contextmanager
def tampered(*statements: str) -> Iterator[None]:
    """Run statements with triggers and foreign keys off, and undo them after the block."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            for statement in ("SET LOCAL session_replication_role = replica", *statements):
                cursor.execute(statement)
                assert cursor.rowcount, statement
        yield
        transaction.set_rollback(True)


def tampering(draw: random.Random, ids: list[Any]) -> str:
    """Return a statement that changes, removes or inserts one posting."""
    chosen, number = f"id = '{draw.choice(ids)}'", draw.randint(1, 10**6)
    act = draw.choice(("change", "remove", "insert"))
    if act == "remove":
        return f"DELETE FROM payments_posting WHERE {chosen}"
    if act == "change":
        column = draw.choice([*OTHER])
        return f"UPDATE payments_posting SET {column} = {OTHER[column].format(number=number + 1)} WHERE {chosen}"
    # In a journal of its own, or as one line more of its journal.
    names = [name for name in COLUMNS if name not in ("id", "line")]
    next_line = "(SELECT 1 + max(line) FROM payments_posting o WHERE o.journal = p.journal)"
    place = draw.choice(("1, gen_random_uuid()", f"{next_line}, journal"))
    amount = draw.choice(("-amount", f"{number}"))
    values = ", ".join(amount if name == "amount" else name for name in names)
    return (
        f"INSERT INTO payments_posting (id, line, journal, {', '.join(names)}) "
        f"SELECT gen_random_uuid(), {place}, {values} FROM payments_posting p WHERE {chosen}"
    )


@pytest.mark.long
def test_an_untouched_log_holds(log: LogHead) -> None:
    assert faults(log) == []
    assert log.size == LogLeaf.objects.count() > 50
    assert {*COLUMNS, "journal"} == {field.column for field in Posting._meta.concrete_fields} == {*OTHER}


def check_tamperings(log: LogHead, seeds: range) -> None:
    ids = list(Posting.objects.order_by("id").values_list("id", flat=True))
    for seed in seeds:
        statement = tampering(random.Random(seed), ids)
        with tampered(statement):
            assert faults(log), f"{seed}: {statement}"


def test_one_posting_changed_removed_or_inserted_is_found(log: LogHead) -> None:
    check_tamperings(log, range(24))


@pytest.mark.long
def test_a_thousand_random_tamperings_are_found(log: LogHead) -> None:
    check_tamperings(log, range(24, 1_024))


def rewritten() -> None:
    """Make the log anew of what is in the ledger, salts included, as somebody who has the worker's code can."""
    for model in (LogLeaf, LogNode):
        model.objects.all().delete()
    LogProgress.objects.update(size=0, posting_id=None)
    append.append()


def test_a_tamperer_who_makes_the_log_anew_is_found_by_an_earlier_head(log: LogHead) -> None:
    """Also with the key: the new head is signed, and is not that of the log before."""
    with tampered(
        "UPDATE payments_posting SET amount = amount * 2 WHERE journal = (SELECT journal FROM payments_posting LIMIT 1)"
    ):
        rewritten()
        forged = LogHead(size=log.size, note=signed().note)
        assert any("The log is not that of the head" in fault for fault in faults(log))
        assert [fault for fault in faults(forged) if "log" in fault] == []
    read = [verify.read_head(head.note, keys()) for head in (log, forged)]
    with pytest.raises(verify.Fault, match="The log has forked"):
        verify.check_consistency(*read, [])


def test_a_fork_that_grew_on_is_found_by_comparing_two_auditors_heads(log: LogHead) -> None:
    """Each was shown a log of its own; no proof leads from one to the other."""
    with tampered("UPDATE payments_posting SET amount = amount + 1 WHERE line = 1"):
        rewritten()
        first = signed()
        proofs = [tree.consistency_proof(size, first.size) for size in (log.size - 1, log.size // 2)]
    ours = verify.read_head(log.note, keys())
    theirs = verify.read_head(first.note, keys())
    later = verify.Head(theirs.origin, theirs.size + 1, theirs.root, theirs.signed_at)
    for proof in ([], *proofs):
        with pytest.raises(verify.Fault, match="The log has forked"):
            verify.check_consistency(ours, later, proof)


def inserted(moment: datetime) -> list[str]:
    """Return statements that insert a whole journal with its balances: nothing but its time speaks against it."""
    names = ", ".join(name for name in COLUMNS if name not in ("id", "created_at"))
    first = Posting.objects.order_by("id").first()
    assert first
    journal, statements = new_id(moment), []
    for line in Posting.objects.filter(journal=first.journal):
        statements.append(
            f"INSERT INTO payments_posting (id, journal, created_at, {names}) "
            f"SELECT '{new_id(moment)}', '{journal}', '{moment}', {names} FROM payments_posting WHERE id = '{line.id}'"
        )
        statements.append(
            f"UPDATE payments_runningbalance SET {line.account} = {line.account} + {line.amount} WHERE ctid = ("
            f"SELECT ctid FROM payments_runningbalance WHERE merchant_id = '{line.merchant_id}' "
            f"AND livemode = {line.livemode} AND currency = '{line.currency}' LIMIT 1)"
        )
    return statements


def kinds(found: list[str]) -> set[str]:
    """Return which of the faults about time are there; any other is returned whole."""
    known = ("and not in the head", "later than the export or a head", "of another time")
    return {next((kind for kind in known if kind in fault), fault) for fault in found}


def test_a_journal_put_into_the_past_is_found(log: LogHead) -> None:
    with tampered(*inserted(clock.now() - timedelta(days=1))):
        assert kinds(faults(log)) == {"and not in the head"}
        append.append_missed()
        assert kinds(faults(log)) == {"and not in the head"}, "it is not logged afterwards"


def test_a_journal_put_into_the_future_is_found(log: LogHead) -> None:
    with tampered(*inserted(clock.now() + timedelta(days=3_650))):
        assert kinds(faults(log)) == {"later than the export or a head"}
        assert kinds(faults(log, sign_all())) == {"later than the export or a head"}


def test_a_head_that_has_what_came_after_it_is_found(log: LogHead) -> None:
    with tampered():
        with clock.at(clock.now() - timedelta(hours=1)):
            early = heads.sign(heads.newest_head())
        assert early
        assert kinds(faults(early)) == {"later than the export or a head"}


@pytest.mark.long
def test_an_id_of_another_time_is_found(log: LogHead) -> None:
    """Merchants see the time of the ID; it is logged like that, and all heads have it."""
    first = Posting.objects.order_by("id").first()
    assert first
    month_ago = new_id(clock.now() - timedelta(days=30))
    for column, other in (("id", month_ago), ("id", uuid4()), ("journal", month_ago)):
        with tampered(f"UPDATE payments_posting SET {column} = '{other}' WHERE {column} = '{getattr(first, column)}'"):
            rewritten()
            assert kinds(faults(signed())) == {"of another time"}


def shorter(log: LogHead, later: timedelta) -> str:
    """Return a signed head of one leaf less, of a later time."""
    root = base64.b64encode(tree.root_of(log.size - 1)).decode()
    return signed_note(f"{origin()}\n{log.size - 1}\n{root}\n{clock.iso(clock.now() + later)}\n")


def test_a_head_of_a_host_whose_clock_was_ahead_accuses_no_journal(log: LogHead) -> None:
    """It is found as that, in any order; the books hold without it."""
    ahead = LogHead(note=shorter(log, timedelta(days=1)))
    for given in ([ahead], [ahead, log]):
        with pytest.raises(verify.Fault, match=r"Of a time to come, by this clock: .* leaves that was signed at"):
            faults(*given)
    assert faults(log) == []


def test_a_later_head_with_fewer_leaves_is_found(log: LogHead) -> None:
    note = shorter(log, timedelta(minutes=1))
    with pytest.raises(verify.Fault, match="A later head has fewer leaves"):
        verify.read_heads([log.note, note], keys())
    with pytest.raises(verify.Fault, match="A later head has fewer leaves"):
        faults(log, LogHead(note=note))


def test_a_log_that_was_cut_is_found(log: LogHead) -> None:
    with tampered(f"DELETE FROM payments_logleaf WHERE number = {log.size - 1}"):
        assert any("The log ends after" in fault for fault in faults(log))


def test_a_changed_balance_is_found(log: LogHead) -> None:
    with tampered("UPDATE payments_runningbalance SET fees = fees - 1"):
        assert [fault for fault in faults(log) if fault.startswith("fees of merchant")]


def test_the_erasure_of_personal_data_breaks_no_proof(log: LogHead) -> None:
    """What is about a person is in no leaf: neither a source, a card, a customer nor any text."""
    with tampered(
        "UPDATE payments_source SET owner = '{}'",
        "UPDATE payments_charge SET description = 'erased'",
        "UPDATE payments_merchant SET title = 'erased'",
        "DELETE FROM payments_card",
    ):
        assert (Source.objects.exists(), Card.objects.exists()) == (True, False)
        assert Merchant.objects.get().title == "erased"
        assert faults(log) == []


def test_a_head_that_is_not_signed_by_a_key_of_ours_is_refused(log: LogHead) -> None:
    with pytest.raises(verify.Fault, match="not signed"):
        verify.read_head(log.note.replace(f"\n{log.size}\n", f"\n{log.size + 1}\n"), keys())
    with pytest.raises(verify.Fault, match="not signed"):
        verify.read_head(log.note.partition("\n\n")[0] + "\n\n", keys())

"""Tampering with the log, past triggers and permissions, is found; a transaction that takes long holds nobody up."""

import re
from threading import Event

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from payments.domain.audit import audit_log, hash_chain
from payments.domain.audit.audit_log import Action
from payments.domain.audit.hash_chain import Broken
from payments.domain.merchants import terms
from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry, AuditHead, Merchant, MerchantAccess
from payments.models.operators.audit import COVERED
from tests.audit.conftest import LENGTH, Forge
from tests.client import signed_in
from tests.concurrency import await_a_waiting_session, in_background

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES, HEAD = "payments_auditentry", "payments_audithead"
OWN = ("id", "number")
COLUMNS = ", ".join(field.column for field in AuditEntry._meta.concrete_fields if field.name not in OWN)


def hashes() -> list[str]:
    return [link.hex() for link in hash_chain.verified_hashes()]


def assert_broken(message: str) -> None:
    with pytest.raises(Broken, match=f"^{re.escape(message)}"):
        hashes()


def test_an_untouched_log_is_valid(log: list[AuditEntry]) -> None:
    assert hashes() == [bytes(entry.hash).hex() for entry in log]


def test_an_empty_log_is_valid() -> None:
    assert hashes() == []


OTHER = dict.fromkeys(COVERED, "'forged'") | {
    "created_at": "created_at + interval '1 microsecond'",
    "operator_id": "7",
    "is_notice": "true",
    "merchant_id": "gen_random_uuid()",
    "fields": "ARRAY['title']",
}


def test_every_column_is_covered_but_the_hashes() -> None:
    names = {field.name for field in AuditEntry._meta.concrete_fields}
    # The number is covered by the hash of the link.
    assert names - set(COVERED) == {"id", "number", "hash", "previous_hash"}


@pytest.mark.parametrize("column", COVERED)
def test_an_entry_that_was_changed_is_found(log: list[AuditEntry], forge: Forge, column: str) -> None:
    forge(f"UPDATE {ENTRIES} SET {column} = {OTHER[column]} WHERE number = 3")
    assert_broken("Entry 3 was changed.")


def copied(number: int, to: int) -> str:
    """Return the statement that adds a copy of an entry, with a hash of its own."""
    columns = COLUMNS.replace("hash", "sha256('copy')").replace("previous_sha256('copy')", "previous_hash")
    return f"INSERT INTO {ENTRIES} (number, {COLUMNS}) SELECT {to}, {columns} FROM {ENTRIES} WHERE number = {number}"


# The statements that tamper with a log of LENGTH entries, and the fault that verification names.
TAMPERING = {
    "first entry changed": ([f"UPDATE {ENTRIES} SET reason = '' WHERE number = 1"], "Entry 1 was changed."),
    "last entry changed": (
        [f"UPDATE {ENTRIES} SET reason = '' WHERE number = {LENGTH}"],
        f"Entry {LENGTH} was changed.",
    ),
    "text moved to another column": (
        [f"UPDATE {ENTRIES} SET detail = detail || reason, reason = '' WHERE number = 3"],
        "Entry 3 was changed.",
    ),
    "hash changed": ([f"UPDATE {ENTRIES} SET hash = sha256('') WHERE number = 3"], "Entry 3 was changed."),
    "previous hash changed": (
        [f"UPDATE {ENTRIES} SET previous_hash = sha256('') WHERE number = 3"],
        "Entry 3 does not follow entry 2",
    ),
    "first entry removed": ([f"DELETE FROM {ENTRIES} WHERE number = 1"], "Entry 2 stands where entry 1 should."),
    "entry removed": ([f"DELETE FROM {ENTRIES} WHERE number = 3"], "Entry 4 stands where entry 3 should."),
    "last entry removed": (
        [f"DELETE FROM {ENTRIES} WHERE number = {LENGTH}"],
        f"The log ends at entry {LENGTH - 1}, where entry {LENGTH} was written last.",
    ),
    "log emptied": ([f"TRUNCATE {ENTRIES}"], f"The log ends at entry 0, where entry {LENGTH} was written last."),
    "entry removed and gap closed": (
        [
            f"DELETE FROM {ENTRIES} WHERE number = 3",
            f"UPDATE {ENTRIES} SET number = 3 WHERE number = 4",
            f"UPDATE {ENTRIES} SET number = 4 WHERE number = {LENGTH}",
        ],
        "Entry 3 does not follow entry 2",
    ),
    "entry added before the first": ([copied(1, 0)], "Entry 0 stands where entry 1 should."),
    "entry added after the last": ([copied(1, LENGTH + 1)], f"Entry {LENGTH + 1} does not follow entry {LENGTH}"),
    "entry added between two": (
        [
            f"UPDATE {ENTRIES} SET number = -number - 1 WHERE number >= 3",
            f"UPDATE {ENTRIES} SET number = -number WHERE number < 0",
            copied(1, 3),
        ],
        "Entry 3 does not follow entry 2",
    ),
    "places swapped": (
        [
            f"UPDATE {ENTRIES} SET number = -2 WHERE number = 2",
            f"UPDATE {ENTRIES} SET number = 2 WHERE number = 4",
            f"UPDATE {ENTRIES} SET number = 4 WHERE number = -2",
        ],
        "Entry 2 does not follow entry 1",
    ),
    "content swapped": (
        [
            f"UPDATE {ENTRIES} AS one SET detail = other.detail FROM {ENTRIES} AS other "
            "WHERE (one.number, other.number) IN ((2, 4), (4, 2))"
        ],
        "Entry 2 was changed.",
    ),
    "entry added without a place": (
        [f"INSERT INTO {ENTRIES} (id, {COLUMNS}) SELECT 0, {COLUMNS} FROM {ENTRIES} WHERE number = 3"],
        "The entry with the ID 0 is not in the chain.",
    ),
    "head removed": ([f"DELETE FROM {HEAD}"], f"The log ends at entry {LENGTH}, where entry 0 was written last."),
    "head moved": (
        [f"UPDATE {HEAD} SET number = number + 1"],
        f"The log ends at entry {LENGTH}, where entry {LENGTH + 1} was written last.",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize(("statements", "fault"), TAMPERING.values(), ids=TAMPERING)
def test_tampering_is_found_at_its_place(
    log: list[AuditEntry], forge: Forge, statements: list[str], fault: str
) -> None:
    forge(*statements)
    assert_broken(fault)


@pytest.mark.parametrize(
    ("number", "fault"),
    [(3, "Entry 4 does not follow entry 3"), (LENGTH, f"The log ends at entry {LENGTH} with another hash")],
)
def test_a_changed_entry_with_a_matching_hash_is_found_after_it(
    log: list[AuditEntry], forge: Forge, number: int, fault: str
) -> None:
    entry = AuditEntry.objects.get(number=number)
    entry.reason = "forged"
    forge(f"UPDATE {ENTRIES} SET reason = 'forged', hash = '\\x{entry.linked_hash().hex()}' WHERE number = {number}")
    assert_broken(fault)


def test_an_added_last_entry_that_follows_is_found_at_the_head(log: list[AuditEntry], forge: Forge) -> None:
    before = AuditHead.objects.get()
    audit_log.record(Action.DELETED)
    forge(f"UPDATE {HEAD} SET number = {before.number}, hash = '\\x{bytes(before.hash).hex()}'")
    assert_broken(f"The log ends at entry {LENGTH + 1}, where entry {LENGTH} was written last.")


def test_an_entry_after_a_removed_one_is_found(log: list[AuditEntry], forge: Forge) -> None:
    forge(f"DELETE FROM {ENTRIES} WHERE number = {LENGTH}")
    audit_log.record(Action.DELETED)
    assert_broken(f"Entry {LENGTH + 1} stands where entry {LENGTH} should.")


def test_an_operator_signs_in_while_a_long_act_is_open(shop: NewMerchant) -> None:
    ana = User.objects.create_user("ana", is_staff=True)
    began, may_end = Event(), Event()

    def act() -> None:
        with transaction.atomic():
            terms.set_payment_method(shop.merchant, "gcash", False)
            began.set()
            assert may_end.wait(60)

    with in_background(act) as long_act:
        assert began.wait(60)
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
                signed_in(ana)
            assert AuditEntry.objects.latest("number").action == "signed_in"
        finally:
            may_end.set()
        long_act.result()
    last = AuditEntry.objects.latest("number")
    assert (last.action, last.fields) == ("changed", ["payment_method_settings"])
    assert len(list(hash_chain.verified_hashes())) == AuditEntry.objects.count()


def test_a_commit_that_waits_for_another_row_does_not_hold_the_head(shop: NewMerchant) -> None:
    ana = User.objects.create_user("ana", is_staff=True)
    recorded, is_locked = Event(), Event()

    def act() -> None:
        with transaction.atomic():
            audit_log.record(Action.CHANGED, shop.merchant)
            # Its foreign keys are checked by the commit, and wait for the lock of the merchant.
            MerchantAccess.objects.bulk_create([MerchantAccess(user=ana, merchant=shop.merchant)])
            recorded.set()
            assert is_locked.wait(60)

    with in_background(act) as waiting:
        assert recorded.wait(60)
        with transaction.atomic():
            Merchant.objects.select_for_update().get(id=shop.merchant.id)
            is_locked.set()
            await_a_waiting_session()
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
            audit_log.record(Action.VIEWED, shop.merchant)
        waiting.result()
    assert [entry.action for entry in AuditEntry.objects.order_by("number")][-2:] == ["viewed", "changed"]

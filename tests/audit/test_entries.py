"""Audit entries: their content and actor, written exactly when the change is committed, and the database's guards."""

import os
import pwd
import re
import socket
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.audit import audit_log, hash_chain
from payments.domain.audit.audit_log import Action
from payments.domain.merchants import api_keys, merchants, terms
from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey, AuditEntry, BinRange, Merchant
from tests.admin.conftest import operator  # noqa: F401  somebody who may do everything
from tests.admin.test_hands_off import BIN, merchant_form
from tests.admin.test_pages import list_of, page_of
from tests.audit.conftest import LENGTH
from tests.commands.conftest import Manage, manage  # noqa: F401
from tests.concurrency import at_once
from tests.factories import MerchantFactory

CARD = "4242424242424242"
WRITERS, EACH = 8, 5


def entries_about(row: object) -> list[tuple[str, list[str], str]]:
    entries = AuditEntry.objects.about(row).order_by("id")
    return list(entries.values_list("action", "fields", "detail"))


def test_a_command_is_recorded_with_its_account_and_host(manage: Manage, db: None) -> None:  # noqa: F811
    manage("merchant", "create", "Sari Store")
    [entry] = AuditEntry.objects.about(Merchant.objects.get())
    account = pwd.getpwuid(os.getuid()).pw_name
    assert (entry.actor, entry.origin, entry.operator_id) == (account, socket.gethostname(), None)


def test_every_key_of_a_new_merchant_is_recorded_without_its_text(shop: NewMerchant) -> None:
    assert all(entries_about(key) for key in ApiKey.objects.all())
    kept = str(list(AuditEntry.objects.values()))
    secrets = [*shop.keys.values(), *shop.webhook_secrets.values()]
    assert [secret for secret in secrets if secret in kept or secret[8:-4] in kept] == []


def test_a_key_is_recorded_from_creation_to_revocation(manage: Manage, shop: NewMerchant) -> None:  # noqa: F811
    old = ApiKey.objects.filter(kind="secret").first()
    manage("merchant", "roll-key", f"key_{old.id.hex}")
    manage("merchant", "revoke-key", f"key_{old.id.hex}")
    manage("merchant", "revoke-key", f"key_{old.id.hex}")
    new = ApiKey.objects.latest("id")
    assert [action for action, *_ in entries_about(old)] == ["added", "rolled", "revoked"]
    assert [action for action, *_ in entries_about(new)] == ["added"]
    assert f"key_{new.id.hex}" in entries_about(old)[1][2]


def test_changes_of_a_merchants_terms_are_recorded_with_their_subject(manage: Manage, shop: NewMerchant) -> None:  # noqa: F811
    manage("merchant", "set-fee", "Sari Store", "card", "PHP", "--fixed", "1500")
    manage("merchant", "set-payment-method", "Sari Store", "gcash", "off")
    manage("merchant", "roll-secret", "Sari Store", "--mode", "live")
    *changed, (action, fields, detail) = entries_about(shop.merchant)[1:]
    assert changed == [
        ("changed", ["rates"], "card in PHP: not set → 0 basis points and 1500"),
        ("changed", ["payment_method_settings"], "gcash off"),
    ]
    assert (action, fields) == ("rolled", ["webhook_secrets"])
    assert detail.startswith("live mode, the older ones sign along until ")


def test_a_change_on_a_page_is_recorded_with_actor_origin_and_request(operator: Client) -> None:  # noqa: F811
    merchant = MerchantFactory()
    response = operator.post(page_of(merchant), merchant_form(), REMOTE_ADDR="203.0.113.9")
    [entry] = AuditEntry.objects.about(merchant)
    assert (entry.actor, entry.origin, entry.request_id) == ("operator", "203.0.113.9", response["Request-Id"])
    assert {"title", "account_name"} <= set(entry.fields)
    assert "#aa0000" not in str(AuditEntry.objects.filter(id=entry.id).values())


def test_additions_changes_and_deletions_on_a_page_are_recorded(operator: Client) -> None:  # noqa: F811
    operator.post(list_of(BinRange) + "add/", BIN)
    row = BinRange.objects.get()
    operator.post(page_of(row), BIN | {"funding": "credit"})
    operator.post(page_of(row), BIN | {"funding": "credit"})
    operator.post(page_of(row).replace("change", "delete"), {"post": "yes"})
    assert entries_about(row) == [("added", [], ""), ("changed", ["funding"], ""), ("deleted", [], "")]


def test_the_history_of_a_row_is_its_audit_entries(operator: Client) -> None:  # noqa: F811
    merchant = MerchantFactory()
    operator.post(page_of(merchant), merchant_form())
    text = operator.get(reverse("admin:payments_merchant_history", args=[merchant.pk])).content.decode()
    assert re.search(r"<td>operator</td>\s*<td>[\d.]+</td>\s*<td>changed</td>", text)


def test_a_secret_is_redacted(db: None) -> None:
    merchant = MerchantFactory.build(title=CARD)
    audit_log.record(Action.CHANGED, merchant, fields=[CARD], detail=CARD, reason=f"paid with {CARD}")
    assert CARD not in str(AuditEntry.objects.values().get())


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_change_is_not_recorded() -> None:
    with transaction.atomic():
        merchants.create_merchant("Sari Store")
        transaction.set_rollback(True)
    assert not AuditEntry.objects.exists()
    assert list(hash_chain.verified_hashes()) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", ["revoke", "fee"])
def test_a_change_that_cannot_be_recorded_is_rolled_back(act: str) -> None:
    shop = merchants.create_merchant("Sari Store")
    key = ApiKey.objects.filter(kind="secret").first()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE payments_auditentry ADD CONSTRAINT audit_is_full CHECK (number < 0) NOT VALID")
    try:
        with pytest.raises(IntegrityError, match="audit_is_full"):
            api_keys.revoke_key(key) if act == "revoke" else terms.set_payment_method(shop.merchant, "gcash", False)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE payments_auditentry DROP CONSTRAINT audit_is_full")
    assert ApiKey.objects.get(id=key.id).revoked_at is None
    assert Merchant.objects.get().payment_method_settings == {}


@pytest.mark.django_db(transaction=True)
def test_concurrent_entries_form_one_chain_without_a_gap() -> None:
    merchant = MerchantFactory()

    def write(number: int) -> None:
        for turn in range(EACH):
            with transaction.atomic():
                audit_log.record_all(Action.CHANGED, [merchant, merchant], detail=f"{number} {turn}")
                transaction.set_rollback(turn == 1)

    at_once(WRITERS, write)
    numbers = AuditEntry.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, WRITERS * (EACH - 1) * 2 + 1))
    assert len(list(hash_chain.verified_hashes())) == len(numbers)


@pytest.mark.django_db
def test_the_log_ignores_a_moved_clock() -> None:
    before = datetime.now(UTC)
    with clock.at(before - timedelta(days=365)):
        audit_log.record(Action.CHANGED)
    assert before <= AuditEntry.objects.latest("id").created_at <= datetime.now(UTC)


# Of this process alone, for roles are shared by all databases of a server.
ROLE = f"kaha_auditor_{os.getpid()}"
TAMPERING = {
    "update": "UPDATE payments_auditentry SET reason = 'forged'",
    "delete": "DELETE FROM payments_auditentry",
    "move the head": "UPDATE payments_audithead SET number = 0",
    "remove the head": "DELETE FROM payments_audithead",
}


@pytest.mark.parametrize("statement", TAMPERING.values(), ids=TAMPERING)
def test_the_log_is_append_only_even_for_a_superuser(log: list[AuditEntry], statement: str) -> None:
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("wrong", [{"number": LENGTH + 1}, {"number": 3}, {"previous_hash": b"x" * 32}])
def test_an_entry_that_brings_its_own_place_is_refused(log: list[AuditEntry], wrong: dict[str, object]) -> None:
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        AuditEntry.objects.bulk_create([AuditEntry(hash=b"y" * 32, action="forged", **wrong)])


def test_an_entry_that_is_not_linked_yet_is_not_changed_either(log: list[AuditEntry]) -> None:
    audit_log.record(Action.DELETED)
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE payments_auditentry SET hash = sha256('') WHERE number IS NULL")


@pytest.mark.parametrize(
    "statement",
    [*list(TAMPERING.values())[:2], "TRUNCATE payments_auditentry", TAMPERING["remove the head"]],
    ids=["update", "delete", "truncate", "remove the head"],
)
def test_the_application_has_no_right_to_change_the_log(log: list[AuditEntry], statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE}")
        for table in ("payments_auditentry", "payments_audithead"):
            # The migration runs as the owner, whose own rights it takes.
            cursor.execute(f"ALTER TABLE {table} OWNER TO {ROLE}")
        cursor.execute(f"SET LOCAL ROLE {ROLE}")
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            cursor.execute(statement)
        cursor.execute("RESET ROLE")

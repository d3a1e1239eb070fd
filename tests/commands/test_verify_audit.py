import pytest
from django.core.management import CommandError

from payments.models import AuditEntry, AuditHead
from payments.models.operators.audit import GENESIS
from tests.audit.conftest import LENGTH, Forge, forge, log
from tests.commands.conftest import Manage

__all__ = ["forge", "log"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_valid_log_is_counted_with_its_last_hash(manage: Manage, log: list[AuditEntry]) -> None:
    last = bytes(log[-1].hash).hex()
    assert manage("verify_audit") == f"{LENGTH} entries hold. The last one's hash: {last}\n"


def test_the_head_can_be_printed_alone(manage: Manage, log: list[AuditEntry]) -> None:
    assert manage("verify_audit", "--head") == f"{bytes(AuditHead.objects.get().hash).hex()}\n"


def test_an_empty_log_is_valid(manage: Manage) -> None:
    assert manage("verify_audit", "--head") == f"{GENESIS.hex()}\n"


@pytest.mark.parametrize("number", range(LENGTH))
def test_any_stored_hash_is_found(manage: Manage, log: list[AuditEntry], number: int) -> None:
    assert "entries hold" in manage("verify_audit", "--expect", bytes(log[number].hash).hex())


def test_the_first_invalid_entry_is_named(manage: Manage, log: list[AuditEntry], forge: Forge) -> None:
    forge("UPDATE payments_auditentry SET actor = 'nobody' WHERE number IN (2, 4)")
    with pytest.raises(CommandError, match=r"^Entry 2 was changed\.$") as fault:
        manage("verify_audit")
    assert fault.value.returncode == 1


def test_an_invalid_log_prints_no_head(manage: Manage, log: list[AuditEntry], forge: Forge) -> None:
    forge("DELETE FROM payments_auditentry WHERE number = 2")
    with pytest.raises(CommandError, match=r"^Entry 3 stands where entry 2 should"):
        manage("verify_audit", "--head")


def test_a_rewritten_log_is_found_by_a_hash_stored_elsewhere(
    manage: Manage, log: list[AuditEntry], forge: Forge
) -> None:
    kept = manage("verify_audit", "--head").strip()
    rewrite(forge, len(log))
    assert "entries hold" in manage("verify_audit")
    with pytest.raises(CommandError, match="cut or written anew"):
        manage("verify_audit", "--expect", kept)


def test_a_truncated_log_is_found_by_a_hash_stored_elsewhere(
    manage: Manage, log: list[AuditEntry], forge: Forge
) -> None:
    last = log[-2]
    move_head = f"UPDATE payments_audithead SET number = {last.number}, hash = '\\x{bytes(last.hash).hex()}'"
    forge(f"DELETE FROM payments_auditentry WHERE number = {LENGTH}", move_head)
    with pytest.raises(CommandError, match="cut or written anew"):
        manage("verify_audit", "--expect", bytes(log[-1].hash).hex())


@pytest.mark.parametrize("text", ["", "abc", "G" * 64, "A" * 64, "0" * 65])
def test_a_malformed_hash_is_refused(manage: Manage, text: str) -> None:
    with pytest.raises(CommandError, match="not a hash of 64 hex digits"):
        manage("verify_audit", f"--expect={text}")


def rewrite(forge: Forge, length: int) -> None:
    """Change every entry and recompute all hashes up to the head."""
    last = GENESIS
    for number in range(1, length + 1):
        entry = AuditEntry.objects.get(number=number)
        entry.reason, entry.previous_hash = "forged", last
        last = entry.linked_hash()
        hashes = f"previous_hash = '\\x{bytes(entry.previous_hash).hex()}', hash = '\\x{last.hex()}'"
        forge(f"UPDATE payments_auditentry SET reason = 'forged', {hashes} WHERE number = {number}")
    forge(f"UPDATE payments_audithead SET hash = '\\x{last.hex()}'")

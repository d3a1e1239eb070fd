import pytest
from django.core.management import CommandError

from payments.models import AuditEntry, AuditHead
from payments.models.audit import GENESIS
from tests.audit.conftest import LENGTH, Forge, forge, log
from tests.commands.conftest import Manage

__all__ = ["forge", "log"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_log_that_holds_is_counted_and_its_last_hash_told(manage: Manage, log: list[AuditEntry]) -> None:
    last = bytes(log[-1].hash).hex()
    assert manage("verify_audit") == f"{LENGTH} entries hold. The last one's hash: {last}\n"


def test_the_head_alone_is_printed_to_be_kept(manage: Manage, log: list[AuditEntry]) -> None:
    assert manage("verify_audit", "--head") == f"{bytes(AuditHead.objects.get().hash).hex()}\n"


def test_an_empty_log_holds(manage: Manage) -> None:
    assert manage("verify_audit", "--head") == f"{GENESIS.hex()}\n"


@pytest.mark.parametrize("number", range(LENGTH))
def test_any_hash_that_was_kept_is_found(manage: Manage, log: list[AuditEntry], number: int) -> None:
    assert "entries hold" in manage("verify_audit", "--expect", bytes(log[number].hash).hex())


def test_the_first_entry_that_does_not_hold_is_named(manage: Manage, log: list[AuditEntry], forge: Forge) -> None:
    forge("UPDATE payments_auditentry SET actor = 'nobody' WHERE number IN (2, 4)")
    with pytest.raises(CommandError, match=r"^Entry 2 was changed\.$") as fault:
        manage("verify_audit")
    assert fault.value.returncode == 1


def test_a_broken_log_has_no_head_to_be_kept(manage: Manage, log: list[AuditEntry], forge: Forge) -> None:
    forge("DELETE FROM payments_auditentry WHERE number = 2")
    with pytest.raises(CommandError, match=r"^Entry 3 stands where entry 2 should"):
        manage("verify_audit", "--head")


def test_a_log_written_anew_is_found_by_a_hash_kept_elsewhere_alone(
    manage: Manage, log: list[AuditEntry], forge: Forge
) -> None:
    kept = manage("verify_audit", "--head").strip()
    write_anew(forge, len(log))
    assert "entries hold" in manage("verify_audit")
    with pytest.raises(CommandError, match="cut or written anew"):
        manage("verify_audit", "--expect", kept)


def test_a_log_cut_together_with_its_head_is_found_by_a_hash_kept_elsewhere(
    manage: Manage, log: list[AuditEntry], forge: Forge
) -> None:
    last = log[-2]
    move_head = f"UPDATE payments_audithead SET number = {last.number}, hash = '\\x{bytes(last.hash).hex()}'"
    forge(f"DELETE FROM payments_auditentry WHERE number = {LENGTH}", move_head)
    with pytest.raises(CommandError, match="cut or written anew"):
        manage("verify_audit", "--expect", bytes(log[-1].hash).hex())


@pytest.mark.parametrize("text", ["", "abc", "G" * 64, "A" * 64, "0" * 65])
def test_what_is_no_hash_is_refused(manage: Manage, text: str) -> None:
    with pytest.raises(CommandError, match="not a hash of 64 hex digits"):
        manage("verify_audit", f"--expect={text}")


def write_anew(forge: Forge, length: int) -> None:
    """Every entry tells something else and is sealed, to the head, as if it had always told that."""
    last = GENESIS
    for number in range(1, length + 1):
        entry = AuditEntry.objects.get(number=number)
        entry.reason, entry.previous_hash = "forged", last
        last = entry.sealed()
        hashes = f"previous_hash = '\\x{bytes(entry.previous_hash).hex()}', hash = '\\x{last.hex()}'"
        forge(f"UPDATE payments_auditentry SET reason = 'forged', {hashes} WHERE number = {number}")
    forge(f"UPDATE payments_audithead SET hash = '\\x{last.hex()}'")

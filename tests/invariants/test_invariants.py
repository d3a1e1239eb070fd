"""Each invariant holds after a busy history, and is seen to be broken by what breaks it."""

from payments.invariants.checking import look
from payments.invariants.registry import INVARIANTS
from tests.invariants.history import History


def broken() -> dict[str, list[str]]:
    """The IDs of the offenders of each invariant that does not hold."""
    found = {invariant.name: look(invariant) for invariant in INVARIANTS}
    return {name: list(finding.ids) for name, finding in found.items() if finding.count}


def test_all_of_them_hold_after_a_busy_history(history: History) -> None:
    assert broken() == {}

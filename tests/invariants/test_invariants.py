"""Each invariant holds after a busy history, and is seen to be broken by what breaks it."""

import pytest

from payments.invariants.checking import look
from payments.invariants.registry import INVARIANTS
from tests.invariants import breaking_acts, breaking_events  # noqa: F401  more breakages
from tests.invariants.breaking import BREAKAGES
from tests.invariants.history import History
from tests.invariants.lawless import lift_all_rules


def broken() -> dict[str, list[str]]:
    """The IDs of the offenders of each invariant that does not hold."""
    found = {invariant.name: look(invariant) for invariant in INVARIANTS}
    return {name: list(finding.ids) for name, finding in found.items() if finding.count}


def test_all_of_them_hold_after_a_busy_history(history: History) -> None:
    assert broken() == {}


@pytest.mark.parametrize("name", [invariant.name for invariant in INVARIANTS])
def test_what_breaks_one_is_seen_with_its_consequences_alone(name: str, history: History) -> None:
    breakage = BREAKAGES[name]
    lift_all_rules()
    offender = breakage.do(history)
    found = broken()
    assert found.keys() == {name} | breakage.also
    assert found[name] == [offender]

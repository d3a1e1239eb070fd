"""Each invariant holds after a busy history, and finds the row that breaks it."""

import pytest

from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from tests.invariants import (  # noqa: F401  more
    breakages_of_checkouts,
    breakages_of_disputes,
    breakages_of_events,
    breakages_of_operators,
    breakages_of_payouts,
    breakages_of_transparency,
)
from tests.invariants.breakages import BREAKAGES
from tests.invariants.constraints import drop_all_constraints
from tests.invariants.coverage import unseen_events, unseen_kinds
from tests.invariants.history import History


def broken() -> dict[str, list[str]]:
    """Return the IDs of the offenders of each broken invariant."""
    found = {invariant.name: check(invariant) for invariant in INVARIANTS}
    return {name: list(finding.ids) for name, finding in found.items() if finding.count}


def test_all_invariants_hold_after_a_busy_history(history: History) -> None:
    assert broken() == {}


def test_the_history_has_every_kind_state_event_and_verb(history: History) -> None:
    unseen = unseen_kinds() | unseen_events() | history.api.unseen_verbs()
    assert not unseen, "\n".join(sorted(unseen))


@pytest.mark.long
@pytest.mark.parametrize("name", [invariant.name for invariant in INVARIANTS])
def test_each_breakage_is_found_with_its_consequences_only(name: str, history: History) -> None:
    breakage = BREAKAGES[name]
    drop_all_constraints()
    offender = breakage.do(history)
    found = broken()
    assert found.keys() == {name} | breakage.also
    assert found[name] == [offender]

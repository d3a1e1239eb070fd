"""Extensions of a hold of which nobody knows at first whether the provider granted them."""

from typing import Any

import pytest

from payments import clock, failpoints
from payments.domain.charging import recovery
from payments.failpoints import Failpoint
from payments.models import Attempt
from tests.charging.doubles import ArrivesLateUnheard, LosesAnswers, NeverHears, provider
from tests.charging.elapsed_time import extend, recover, stands
from tests.client import Api, made
from tests.invariants.test_invariants import broken
from tests.operators.corrections import corrected


def test_while_nobody_knows_nothing_changes_and_a_lookup_finds_it_out(api: Api) -> None:
    charge = api.held()
    with provider(LosesAnswers()):
        extend(charge)
    assert stands(charge) == (True, 0, "extend")
    recover()
    assert stands(charge) == (True, 7, "")
    assert broken() == {}


def test_what_never_arrived_changes_nothing(api: Api) -> None:
    charge = api.held()
    with provider(NeverHears()):
        extend(charge)
    recover()
    assert stands(charge) == (True, 0, "")
    assert Attempt.objects.get(kind="extend").outcome == "NotFound"


@pytest.mark.django_db(transaction=True)
def test_what_was_given_up_and_done_after_all_is_recorded_once(api: Api) -> None:
    charge = api.held()
    with provider(ArrivesLateUnheard()):
        extend(charge)
    assert stands(charge) == (True, 0, "")
    for _ in range(2):
        recover()
        assert stands(charge) == (True, 7, "")
    assert Attempt.objects.get(kind="extend").outcome == "LateApproved"
    assert broken() == {}


@pytest.mark.django_db(transaction=True)
def test_what_was_done_after_all_to_a_hold_that_is_no_more_changes_nothing(api: Api) -> None:
    charge = api.held()
    with provider(ArrivesLateUnheard()):
        extend(charge)
    made(api.post(f"/charges/{charge['id']}/capture"))
    for _ in range(3):
        recover()
    assert stands(charge) == (False, 0, "")
    assert broken() == {}


@pytest.mark.parametrize(("outcome", "days"), [("approved", 7), ("declined", 0), ("never_arrived", 0)])
def test_an_unknown_extension_is_corrected_by_two_people(api: Api, outcome: str, days: int) -> None:
    charge = api.held()
    with provider(NeverHears()):
        extend(charge)
    corrected(Attempt.objects.get(kind="extend"), outcome)
    assert stands(charge) == (True, days, "")


def test_an_extension_reported_twice_counts_once(api: Api) -> None:
    charge = api.held()
    extend(charge)
    attempt = Attempt.objects.get(kind="extend")
    Attempt.objects.filter(id=attempt.id).update(state="unknown", outcome="", due_at=clock.now())
    stale = Attempt.objects.get(id=attempt.id)
    Attempt.objects.filter(id=attempt.id).update(state="done", outcome="Approved", due_at=None)
    recovery.resolve(stale)
    assert stands(charge) == (True, 7, "")


@pytest.fixture(autouse=True)
def _nobody_listens_afterwards() -> Any:
    yield
    failpoints.listen(None)


@pytest.mark.parametrize("step", [Failpoint.OPENED, Failpoint.ASKING, Failpoint.ANSWERED, Failpoint.RECORDING])
def test_an_extension_whose_process_dies_is_found_out(api: Api, step: Failpoint) -> None:
    charge = api.held()

    class Killed(BaseException):
        """What ends a process."""

    def die(reached: Failpoint) -> None:
        if reached is step:
            raise Killed

    failpoints.listen(die)
    with pytest.raises(Killed):
        extend(charge)
    failpoints.listen(None)
    recover()
    done = step in (Failpoint.ANSWERED, Failpoint.RECORDING)
    assert stands(charge) == (True, 7 if done else 0, "")
    assert broken() == {}

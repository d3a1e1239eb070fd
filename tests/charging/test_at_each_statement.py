"""Somebody else is faster, after whichever of our statements: nothing breaks, and the end of it is one thing."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from django.db import connection

from payments.domain.charging import recovery
from payments.domain.shared.errors import PaymentError
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge
from payments.providers.base import WebhookEvent
from payments.providers.simulator.connector import Simulator
from tests.charging.doubles import LosesAnswers, NeverHears, provider
from tests.charging.elapsed_time import let_time_pass
from tests.client import ANSWER_LOST, CHALLENGED, NEVER_ARRIVES, Api
from tests.concurrency import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def look_up(attempt_id: Any) -> object:
    return recovery.resolve(Attempt.objects.get(id=attempt_id))


def be_reported(attempt_id: Any) -> object:
    # That nothing was done is the answer to the first request.
    with suppress(PaymentError):
        recovery.apply_event(WebhookEvent(attempt_id.hex, outcome=None))


WAYS: dict[str, Callable[[Any], object]] = {"a lookup": look_up, "an event": be_reported}


def unknown(api: Api, verb: str, double: Simulator) -> None:
    """Leave an operation whose outcome is unknown."""
    charge = api.charge() if verb == "refund" else api.held()
    with provider(double):
        api.post(f"/charges/{charge['id']}/{verb}", {} if verb == "void" else {"amount": 4_000})


LEFT: dict[str, Callable[[Api], object]] = {
    "the payer never came": lambda api: api.charge(CHALLENGED),
    "the answer was lost": lambda api: api.charge(ANSWER_LOST),
    "the payment was lost": lambda api: api.charge(NEVER_ARRIVES),
    **{
        f"the {what} of a {verb} was lost": partial(unknown, verb=verb, double=double())
        for verb in ("capture", "void", "refund")
        for what, double in (("answer", LosesAnswers), ("request", NeverHears))
    },
}


class Overtaking:
    """Runs `do` once, on a connection of its own, after the statement of this number; False where there were fewer."""

    def __init__(self, number: int, do: Callable[[], object]) -> None:
        self.left = number
        self.do = do
        self.has_run = False

    def __call__(self, execute: Callable[..., Any], *given: Any) -> Any:
        found = execute(*given)
        self.left -= 1
        # Within a transaction the other would wait for it, and it for the other.
        if self.left <= 0 and not self.has_run and not connection.in_atomic_block:
            self.has_run = True
            at_once(1, lambda _: self.do())
        return found


def overtaken(number: int, do: Callable[[], object], by: Callable[[], object]) -> bool:
    """Run `do` with `by` after its statement of this number; return False when it ended before."""
    overtaking = Overtaking(number, by)
    with connection.execute_wrapper(overtaking):
        do()
    return overtaking.has_run


def left_over(api: Api, what: str) -> Any:
    """Return the ID of an attempt that must be looked up now."""
    LEFT[what](api)
    let_time_pass(Attempt, "due_at")
    let_time_pass(Charge, "action_expires_at")
    return Attempt.objects.exclude(state=Attempt.State.DONE).get().id


@pytest.mark.parametrize("theirs", WAYS)
@pytest.mark.parametrize("ours", WAYS)
@pytest.mark.parametrize("what", LEFT)
def test_who_is_overtaken_finds_what_the_other_found(api: Api, what: str, ours: str, theirs: str) -> None:
    number, was_overtaken = 0, True
    while was_overtaken:
        number += 1
        attempt_id = left_over(api, what)

        was_overtaken = overtaken(number, partial(WAYS[ours], attempt_id), partial(WAYS[theirs], attempt_id))

        assert Attempt.objects.get(id=attempt_id).state == Attempt.State.DONE
    assert number > 3
    assert checks.run(INVARIANTS).failures == []

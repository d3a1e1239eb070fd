"""Runs histories under a seed."""

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.disputes import DisputingMachine

STEPS = 50
# The simulator's delay of refunds while histories run, in which time passes by a rule alone.
NEVER_BY_ITSELF_SECONDS = 7 * 24 * 3600


def run_histories(histories: int, seed: int) -> None:
    """Run the `histories` that follow from `seed`.

    Raises what is wrong, with the steps of the shortest history found that shows it.
    """
    settings = hypothesis.settings(
        max_examples=histories,
        stateful_step_count=STEPS,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    seeded = hypothesis.seed(seed)(type("Seeded", (DisputingMachine,), {}))
    run_state_machine_as_test(seeded, settings=settings)

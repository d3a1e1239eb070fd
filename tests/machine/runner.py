"""Runs histories under a seed."""

import hypothesis
from django.test import override_settings
from hypothesis import HealthCheck, Phase
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.bank_files import FilingMachine
from tests.payouts.live import DEBTORS
from tests.routing.doubles import Psp, installed

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
    live = {"PAYOUT_DEBTOR_NAME": "Kaha", "PAYOUT_DEBTOR_ACCOUNTS": DEBTORS, "LIVE_CARDS_ATTESTED": True}
    with installed(Psp("north")) as psp, override_settings(**live):
        seeded = hypothesis.seed(seed)(type("Seeded", (FilingMachine,), {"psp": psp}))
        run_state_machine_as_test(seeded, settings=settings)

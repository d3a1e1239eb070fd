import pytest
from django.core.management import CommandError

from payments.models import Charge
from payments.sweeps.table import SWEEPS
from tests.charging.elapsed_time import let_time_pass
from tests.client import Api
from tests.commands.conftest import Manage


def test_it_does_what_the_sweep_does_and_says_how_much(manage: Manage, api: Api) -> None:
    api.charge()
    assert manage("run_sweep", "settle_due") == "settle_due: 0 done.\n"
    let_time_pass(Charge, "settle_due_at")
    assert manage("run_sweep", "settle_due") == "settle_due: 1 done.\n"
    assert manage("run_sweep", "clear_sessions") == "clear_sessions: 0 done.\n"


def test_an_unknown_name_is_refused_with_all_names(manage: Manage) -> None:
    with pytest.raises(CommandError) as refused:
        manage("run_sweep", "settle")
    assert all(f"'{name}'" in str(refused.value) for name in SWEEPS)

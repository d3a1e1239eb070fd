"""What the arguments of several commands take, and that they change no value."""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, get_commands, load_command_class

from payments.domain.merchants.merchants import NewMerchant
from payments.management import arguments
from payments.models import Charge, Merchant
from payments.sweeps.table import SWEEPS
from tests.admin.test_form_fields import NUMBERS
from tests.charging.elapsed_time import let_time_pass
from tests.client import Api
from tests.commands.conftest import Manage

MOMENTS = [
    "2026-11-21-08:00",
    "2026-11-21T08",
    "2026-W47-6",
    "20261121",
    "2026-11-21T08:00z",
    "２０２６-11-21",
    "21.11.2026",
]


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_in_anything_but_digits_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="digits alone"):
        arguments.whole_number(text)


@pytest.mark.parametrize("text", MOMENTS)
def test_a_time_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no time such as 2026-11-21"):
        arguments.moment(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21", datetime(2026, 11, 21, tzinfo=UTC)),
        ("2026-11-21T08:00", datetime(2026, 11, 21, 8, tzinfo=UTC)),
        ("2026-11-21T08:00Z", datetime(2026, 11, 21, 8, tzinfo=UTC)),
        ("2026-11-21T08:00:30+08:00", datetime(2026, 11, 21, 0, 0, 30, tzinfo=UTC)),
        ("2026-11-21 08:00:30.500000+00", datetime(2026, 11, 21, 8, 0, 30, 500_000, tzinfo=UTC)),
        ("2026-11-21 08:00:30+05:30", datetime(2026, 11, 21, 2, 30, 30, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_as_it_is_written(text: str, moment: datetime) -> None:
    assert arguments.moment(text) == moment


def test_no_command_reads_a_number_of_another_form() -> None:
    found = [
        f"{name} {action.option_strings or action.dest}"
        for name, app in get_commands().items()
        if app == "payments"
        for action in _actions_of(load_command_class(app, name).create_parser("manage.py", name))
        if action.type in (int, float) and action.dest != "verbosity"
    ]
    assert found == []


def _actions_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in {*action.choices.values()}:
                yield from _actions_of(below)


@pytest.mark.parametrize("text", ["1_000", "１０００"])
def test_a_fee_is_never_another_amount(manage: Manage, shop: NewMerchant, text: str) -> None:
    with pytest.raises(CommandError, match="digits alone"):
        manage("merchant", "set-fee", "Sari Store", "card", "PHP", "--fixed", text)
    assert Merchant.objects.get().rates == {}


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

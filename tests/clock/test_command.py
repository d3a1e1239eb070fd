"""`manage.py advance_clock`."""

import pytest
from django.core.management import CommandError
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from tests.client import ANSWER_LOST, CHALLENGED, Api
from tests.commands.conftest import Manage, manage

__all__ = ["manage"]


def announced(output: str) -> dict[str, int]:
    """Return the counts that the command printed."""
    return {line.rpartition("  ")[0].strip(): int(line.split()[-1]) for line in output.strip().splitlines()}


def test_it_says_what_has_happened(manage: Manage, api: Api) -> None:
    hook = {"success": "https://shop.example/", "fail": "https://shop.example/", "notify": "https://shop.example/hook"}
    api.held()
    api.charge_source(api.source(redirect=hook))
    api.charge(CHALLENGED)
    api.charge(ANSWER_LOST)

    assert announced(manage("advance_clock", "Sari Store", "7d")) == {
        "holds released": 1,
        "actions expired": 1,
        "attempts resolved": 1,
        "events of the provider": 1,
        "charges settled": 1,
        "CVCs destroyed": 0,
        "card numbers destroyed": 0,
        "operators' requests expired": 0,
        "webhooks due": 2,
    }


@pytest.mark.long
@pytest.mark.parametrize("by", ["604800", "168h", "7d"])
def test_time_is_given_in_seconds_or_with_a_unit(manage: Manage, api: Api, by: str) -> None:
    api.held()
    assert announced(manage("advance_clock", "Sari Store", by))["holds released"] == 1


@pytest.mark.parametrize("arguments", [["Nobody", "1"], *(["Sari Store", by] for by in ("0", "367d", "1w", "9" * 40))])
def test_what_cannot_be_read_lets_no_time_pass(manage: Manage, shop: NewMerchant, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        manage("advance_clock", *arguments)


def test_where_the_clock_is_off_time_passes_by_itself(manage: Manage, shop: NewMerchant, settings: Settings) -> None:
    settings.KAHA_CLOCK = False
    with pytest.raises(CommandError, match="KAHA_CLOCK"):
        manage("advance_clock", "Sari Store", "1d")

"""Sweeps that go row by row: whose row comes next, and what a row that fails does to the others."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from payments.models import PaymentLink
from payments.sweeps import in_turn
from payments.sweeps.in_turn import each_in_turn
from tests.checkout.shelf import linked
from tests.client import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def names(api: Api, other_api: Api) -> list[str]:
    """Return the names of five links of one merchant, and of a later one of another."""
    mine = [linked(api, internal_name=f"mine {number}")["internal_name"] for number in range(5)]
    return [*mine, linked(other_api, internal_name="other")["internal_name"]]


def swept(act: Callable[[PaymentLink], int] = lambda _: True) -> tuple[int, list[str]]:
    """Run a sweep that deactivates links; return its result, and the names in the order in which it took them."""
    seen: list[str] = []

    def end(link: PaymentLink) -> int:
        seen.append(link.internal_name)
        result = act(link)
        PaymentLink.objects.filter(id=link.id).update(active=False)
        return result

    return each_in_turn(PaymentLink.objects.filter(active=True), "id", end), seen


def fail(link: PaymentLink) -> int:
    if link.internal_name == "mine 0":
        raise LookupError
    return 1


def test_the_first_row_of_each_merchant_comes_before_the_second_of_any(names: list[str]) -> None:
    assert swept() == (6, ["mine 0", "other", "mine 1", "mine 2", "mine 3", "mine 4"])


def test_it_ends_when_nothing_is_due(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_turn, "BATCH", 2)
    assert swept()[0] == 6


def test_it_leaves_the_rest_to_the_next_run_when_its_time_is_over(
    names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_turn, "RUN_SECONDS", -1.0)
    assert swept() == (0, [])


@pytest.mark.parametrize(("seconds", "runs"), [(21, "m o m m"), (7, "m oxy m m"), (0.2, "m oxym m m")])
def test_slow_rows_of_one_merchant_take_no_more_time_than_those_of_another(
    seconds: float, runs: str, names: list[str], other_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    for name in ("x", "y") if seconds < 21 else ():
        linked(other_api, internal_name=name)
    monkeypatch.setattr(in_turn, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def act(link: PaymentLink) -> int:
        now[0] += 21 if link.internal_name.startswith("mine") else seconds
        return 1

    assert " ".join("".join(name[0] for name in swept(act)[1]) for _ in runs.split()) == runs


def test_a_row_that_stays_due_is_tried_once(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_turn, "BATCH", 2)
    seen: list[Any] = []
    assert each_in_turn(PaymentLink.objects.all(), "id", lambda link: seen.append(link.id) or 0) == 0
    assert len(seen) == len(set(seen)) == 6


def test_a_row_that_fails_is_logged_and_put_off_and_the_others_are_not(
    names: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    assert swept(fail) == (5, ["mine 0", "other", "mine 1", "mine 2", "mine 3", "mine 4"])
    assert [record.message for record in caplog.records] == ["row of a sweep failed"]
    assert swept(fail) == (0, [])


def test_a_row_that_failed_is_tried_again_after_a_pause(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_turn, "PAUSES_SECONDS", (0.0,))
    swept(fail)
    assert swept() == (1, ["mine 0"])

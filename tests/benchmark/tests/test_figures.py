"""The pure parts of the benchmark: percentiles, spreads, goals, and the options."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmark.books import Books, Delivery
from tests.benchmark.figures import Figures, Spread, percentile, spreads
from tests.benchmark.goals import GOALS, Rounds, reached
from tests.benchmark.options import parse
from tests.benchmark.report import report

IN_ORDER = Books(answered=3, missing=[], charges=2, charges_in_books=2, invariants=44, broken=[])
VALUES = st.lists(st.floats(0, 1000), min_size=1, max_size=300)


def rounds_of(charges: float = 270) -> Rounds:
    """Return what a run found that measured charges twice, the second time on a machine half as fast."""
    ours = Figures(per_second=charges, p50_ms=10, p99_ms=20, server_cpu_ms=3, postgres_cpu_ms=1)
    plain = Figures(per_second=4000, p50_ms=1, p99_ms=2, server_cpu_ms=0.5)
    peer = Figures(per_second=100, p50_ms=20, p99_ms=40, server_cpu_ms=14, postgres_cpu_ms=2)
    peers = dict.fromkeys(("charges/textbook", "charges/books", "charges/company"), peer)
    first = {"charges": ours, "charges/plain": plain, **peers}
    return {name: [one, replace(one, per_second=one.per_second / 2)] for name, one in first.items()}


@pytest.mark.parametrize(("percent", "value"), [(50, 50), (99, 99), (100, 100), (0.5, 1)])
def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed(percent: float, value: float) -> None:
    assert percentile(range(100, 0, -1), percent) == value


@given(VALUES, st.floats(0.1, 100))
def test_a_percentile_leaves_no_more_above_it_than_it_says(values: Sequence[float], percent: float) -> None:
    found = percentile(values, percent)
    assert found in values
    assert sum(value > found for value in values) <= len(values) * (1 - percent / 100) + 1e-9


def test_rounds_come_to_their_median_and_their_bounds() -> None:
    rounds = [Figures(per_second=number, p50_ms=1, p99_ms=1) for number in (30, 10, 20)]
    assert spreads(rounds)["per_second"] == Spread(median=20, minimum=10, maximum=30)


def test_a_measure_that_was_not_taken_is_not_shown_as_nothing() -> None:
    assert spreads([Figures(per_second=1, p50_ms=1, p99_ms=1)]).keys() == {"per_second", "p50_ms", "p99_ms"}


@pytest.mark.parametrize(("charges", "enough"), [(269, False), (270, True)])
def test_a_goal_of_at_least_so_much_is_reached_at_its_bound(charges: float, enough: bool) -> None:
    goal, ratio = reached(rounds_of(charges))[0]
    assert goal.is_reached_by(ratio) is enough


@pytest.mark.parametrize(("ratio", "enough"), [(15, True), (15.01, False)])
def test_a_goal_of_at_most_so_much_is_reached_at_its_bound(ratio: float, enough: bool) -> None:
    [goal] = [goal for goal in GOALS if goal.text.startswith("server CPU of a charge")]
    assert goal.is_reached_by(ratio) is enough


def test_only_goals_for_which_everything_was_measured_are_shown() -> None:
    assert {goal.above for goal, _ in reached(rounds_of())} == {"charges"}


def test_a_report_has_the_ratio_of_each_goal() -> None:
    first = report(parse([]), rounds_of(), IN_ORDER)["goals"][0]
    assert (first["ratio"], first["at_least"], first["aim"], first["reached"]) == (2.7, 2.7, 3, True)


COMPLETE = Delivery(events=5, delivered=3, outbox=2, received=4, left=2)


def test_callbacks_that_are_delivered_or_wait_are_in_order() -> None:
    assert replace(IN_ORDER, callbacks=COMPLETE).in_order


@pytest.mark.parametrize(
    "wrong",
    [
        {"missing": ["ch_1"]},
        {"broken": ["journals_balance"]},
        {"charges_in_books": 3},
        {"callbacks": replace(COMPLETE, outbox=1)},
        {"callbacks": replace(COMPLETE, received=2)},
    ],
    ids=str,
)
def test_books_that_say_otherwise_are_not_in_order(wrong: dict[str, object]) -> None:
    assert report(parse([]), rounds_of(), replace(IN_ORDER, **wrong))["books"]["in_order"] is False


def test_a_part_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--only", "charges,refunds"])
    assert "no part: refunds" in capsys.readouterr().err


def test_among_seeded_charges_those_parts_are_measured_that_shall_not_know_of_them() -> None:
    parts = parse(["--charges", "1000"]).parts
    assert [part.name for part in parts] == ["charges", "list", "middle", "last", "quiet"]
    assert [name for part in parts for name in part.rows if "/" in name] == [
        *("charges/empty", "charges/textbook", "charges/books", "charges/company", "list/empty", "list/company")
    ]


def test_pages_of_seeded_charges_are_refused_without_any(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--only", "middle"])
    assert "want --charges" in capsys.readouterr().err


def test_processor_time_is_that_of_the_app_and_of_postgresql() -> None:
    [ratio] = [ratio for goal, ratio in reached(rounds_of()) if goal.text.startswith("CPU of a charge")]
    assert ratio == (3 + 1) / (14 + 2)


def test_a_goal_of_one_measure_alone_is_that_measure() -> None:
    slow = [Figures(per_second=80, p50_ms=1010, p99_ms=1400, memory_mb=120, connections=9)]
    ratios = {goal.text: (ratio, goal.is_reached_by(ratio)) for goal, ratio in reached({"slow": slow})}
    assert ratios["p99 of a charge, provider 1 s, in ms"] == (1400, False)
    assert ratios["memory of a web process then, in MB"] == (120, True)

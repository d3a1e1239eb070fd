"""The write gap and the failures around a fault."""

import pytest

from tests.figures.failover.faults import FAULTS, OF_THE_PRIMARY, in_turn
from tests.figures.failover.report import Happened, Line, figures_of, write_gap


def done(at: float) -> Line:
    return {"at": at, "status": 200, "code": ""}


def test_the_write_gap_is_the_longest_time_without_an_acknowledged_write() -> None:
    lines = [done(98.0), done(101.0), {"at": 105.0, "status": 503, "code": "internal_error"}, done(112.0), done(113.0)]
    assert write_gap(lines, 100.0, 115.0) == 11.0


def test_the_time_before_the_fault_is_no_part_of_the_gap() -> None:
    assert write_gap([done(90.0), done(101.0), done(102.0)], 100.0, 102.0) == 1.0


def test_a_load_that_is_never_answered_again_is_a_gap_until_the_end() -> None:
    assert write_gap([done(99.0)], 100.0, 160.0) == 60.0


@pytest.mark.parametrize(("after", "reached"), [(14.0, True), (16.0, False)])
def test_a_killed_primary_may_stop_writes_for_fifteen_seconds(after: float, reached: bool) -> None:
    lines = [done(99.0), *(done(100.0 + after + second) for second in range(30))]
    assert figures_of(Happened("primary-kill", "pg1", 100.0, 125.0), lines)["reached"] is reached


@pytest.mark.parametrize("line", [{"at": 101.0, "status": 502, "code": "internal_error"}, {"at": 101.0, "error": "X"}])
def test_no_request_may_fail_for_a_web_host(line: Line) -> None:
    happened = Happened("web-kill", "web1", 100.0, 110.0)
    lines = [done(100.0 + second) for second in range(20)]
    assert figures_of(happened, lines)["reached"]
    figures = figures_of(happened, [*lines, line])
    assert not figures["reached"]
    assert sum(figures["failed"].values()) == 1


def test_a_request_that_another_one_is_ahead_of_has_not_failed() -> None:
    busy = {"at": 101.0, "status": 409, "code": "idempotency_key_in_use"}
    assert figures_of(Happened("web-kill", "web1", 100.0, 110.0), [done(100.5), busy])["failed"] == {}


def test_what_is_never_well_again_has_not_reached_its_goal() -> None:
    figures = figures_of(Happened("redis-kill", "redis1", 100.0, 0.0), [done(100.0 + second) for second in range(20)])
    assert (figures["reached"], figures["well_after_seconds"]) == (False, None)


def test_the_faults_of_the_primary_come_in_rounds_and_the_others_once() -> None:
    assert in_turn(["web-kill", *OF_THE_PRIMARY], rounds=4) == [*OF_THE_PRIMARY, OF_THE_PRIMARY[0], "web-kill"]
    assert in_turn(["web-kill"], rounds=4) == ["web-kill"]
    assert len(in_turn(list(FAULTS), rounds=10)) == 10 + len(FAULTS) - len(OF_THE_PRIMARY)

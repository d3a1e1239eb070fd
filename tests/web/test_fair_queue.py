"""Requests that are ready run in turns by caller."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.web.fair_queue import FairQueue, Turn
from tests.web.clients import ATTACKER, ask, head, open_sockets, status_of
from tests.web.conftest import Serve

pytestmark = pytest.mark.long

BURST = 40


def in_a_loop(scenario: Callable[[FairQueue], None], most: int = 4) -> None:
    async def run() -> None:
        scenario(FairQueue(most))

    asyncio.run(run())


def have_begun(turns: list[Turn]) -> list[bool]:
    return [turn.begun.done() for turn in turns]


def test_one_caller_alone_has_half_of_the_places() -> None:
    def scenario(turns: FairQueue) -> None:
        assert have_begun([turns.begin("a") for _ in range(4)]) == [True, True, False, False]

    in_a_loop(scenario)


def test_of_a_crowd_of_callers_no_more_run_than_may() -> None:
    def scenario(turns: FairQueue) -> None:
        assert have_begun([turns.begin(caller) for caller in "abcdefgh"]) == [True, True] + [False] * 6

    in_a_loop(scenario, most=2)


def test_a_caller_of_whom_nothing_runs_is_next() -> None:
    def scenario(turns: FairQueue) -> None:
        first, other = turns.begin("a"), turns.begin("b")
        second, third = turns.begin("a"), turns.begin("c")
        other.end()
        assert have_begun([first, second, third]) == [True, False, True]

    in_a_loop(scenario, most=2)


def test_callers_that_wait_are_served_in_rotation() -> None:
    def scenario(turns: FairQueue) -> None:
        first = {caller: turns.begin(caller) for caller in "ab"}
        waiting = [turns.begin(caller) for caller in "aaabbb"]
        served = []
        ends = list(first.values())
        while ends:
            ends.pop(0).end()
            ends += [turn for turn in waiting if turn.begun.done() and turn not in served]
            served += [turn for turn in waiting if turn.begun.done() and turn not in served]
        assert [turn.caller for turn in served] == list("ababab")

    in_a_loop(scenario, most=2)


def test_a_turn_that_leaves_its_line_is_passed_over() -> None:
    def scenario(turns: FairQueue) -> None:
        first, left, last = (turns.begin("a") for _ in range(3))
        left.end()
        first.end()
        assert have_begun([left, last]) == [False, True]

    in_a_loop(scenario, most=1)


def test_a_turn_that_ends_twice_frees_one_place() -> None:
    def scenario(turns: FairQueue) -> None:
        first, second, third = (turns.begin("a") for _ in range(3))
        first.end()
        first.end()
        assert have_begun([second, third]) == [True, False]

    in_a_loop(scenario, most=1)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20)), max_size=60), st.integers(1, 6))
def test_whatever_ends_in_whatever_order_every_turn_begins_at_last(steps: list[tuple[str, int]], most: int) -> None:
    def scenario(turns: FairQueue) -> None:
        begun: list[Turn] = []
        for caller, number in steps:
            begun.append(turns.begin(caller))
            ran = [turn for turn in begun if turn.begun.done()]
            assert min(1, len(begun)) <= len(ran) <= most
            if number < len(ran):
                ran[number].end()
                begun.remove(ran[number])
        while ready := [turn for turn in begun if turn.begun.done()]:
            ready[0].end()
            begun.remove(ready[0])
        assert not begun

    in_a_loop(scenario, most)


@pytest.mark.django_db(transaction=True)
def test_of_a_burst_of_one_caller_half_as_many_run_at_once_as_there_are_connections(serve: Serve) -> None:
    port = serve(workers=1, DATABASE_CONNECTIONS="4", target="tests.web.waiting_app:application")
    with open_sockets(port, BURST, head("GET /running")) as connections:
        assert all(connection.recv(1) for connection in connections)
    assert ask(port, head("GET /most"))[1] == b"2"


@pytest.mark.django_db(transaction=True)
def test_a_request_that_waits_lets_others_of_its_caller_run(serve: Serve) -> None:
    port = serve(workers=1, DATABASE_CONNECTIONS="1", target="tests.web.waiting_app:application")
    with open_sockets(port, BURST, head("GET /waiting")):
        assert status_of(port, head("GET /running"), ATTACKER) == 200

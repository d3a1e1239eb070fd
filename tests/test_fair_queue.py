"""Slots that a caller may take, and callers that wait for their turn."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.concurrency.fair_queue import PAUSE_MOST_SECONDS, FairQueue, PausingQueue, Slots, Turn
from payments.domain.bulkheads import Bulkheads
from payments.embedded.processes import wait_until
from tests.concurrency import at_once

MOST = 3
LONG_SECONDS = 30


def taken(slots: Slots, name: object) -> int:
    count = 0
    while slots.take(name):
        count += 1
    return count


@pytest.mark.parametrize(("names", "each"), [(1, 80), (2, 54), (3, 40)])
def test_however_many_are_slow_the_next_finds_room(names: int, each: int) -> None:
    slots = Slots(160, 160)
    growing = deque(range(names))
    while growing:
        name = growing.popleft()
        if slots.take(name):
            growing.append(name)
    assert max(slots._held.values()) == each
    # It leaves room for one more of its size in turn, so it has half of what is left.
    assert taken(slots, "next") >= each // 2 - 1


def test_a_crowd_of_names_never_takes_more_than_there_are() -> None:
    slots = Slots(5, 12)
    assert [slots.take(name) for name in range(13)] == [True] * 12 + [False]
    assert slots.taken == 12
    slots.give_back(7)
    assert slots.take("next")


def test_what_is_given_back_may_be_taken_again() -> None:
    slots = Slots(1)
    assert [slots.take("it"), slots.take("it")] == [True, False]
    slots.give_back("it")
    assert slots.take("it")


def test_a_slow_account_leaves_room_for_another_at_its_provider() -> None:
    assert Bulkheads(200).accounts.most == 60
    assert taken(Bulkheads(200).providers, "it") == 80


def begin(queue: FairQueue, callers: str) -> list[Turn]:
    return [queue.begin(caller, lambda: None) for caller in callers]


def have_begun(turns: list[Turn]) -> list[bool]:
    return [turn.has_begun for turn in turns]


@pytest.mark.parametrize(("leaves_room", "begun"), [(True, [True, True, False, False]), (False, [True] * 4)])
def test_one_caller_alone_has_half_of_the_places_where_room_is_left(leaves_room: bool, begun: list[bool]) -> None:
    assert have_begun(begin(FairQueue(4, leaves_room), "aaaa")) == begun


@pytest.mark.parametrize("leaves_room", [True, False])
def test_of_a_crowd_of_callers_no_more_run_than_may(leaves_room: bool) -> None:
    assert have_begun(begin(FairQueue(2, leaves_room), "abcdefgh")) == [True, True] + [False] * 6


def test_a_caller_of_whom_nothing_runs_is_next() -> None:
    queue = FairQueue(2)
    first, other, second, third = turns = begin(queue, "abac")
    queue.end(other)
    assert [turn for turn in turns if turn.has_begun] == [first, other, third]
    assert not second.has_begun


@pytest.mark.parametrize("leaves_room", [True, False])
def test_callers_that_wait_are_served_in_rotation(leaves_room: bool) -> None:
    queue, served = FairQueue(1, leaves_room), ""
    [running] = begin(queue, "-")
    waiting = begin(queue, "aaabbbc")
    while waiting:
        queue.end(running)
        [running] = [turn for turn in waiting if turn.has_begun]
        waiting.remove(running)
        served += running.caller
    assert served == "abcabab"


def test_a_caller_who_comes_while_others_are_served_waits_for_one_turn_of_each() -> None:
    queue = FairQueue(1, leaves_room=False)
    first, second, third = begin(queue, "aaa")
    queue.end(first)
    [quiet] = begin(queue, "q")
    queue.end(second)
    assert have_begun([third, quiet]) == [True, False]
    queue.end(third)
    assert quiet.has_begun


def test_a_turn_that_leaves_is_passed_over() -> None:
    queue = FairQueue(1)
    first, left, last = begin(queue, "aba")
    queue.end(left)
    queue.end(first)
    assert (left.has_begun, last.has_begun, queue.waiting) == (False, True, 0)


def test_a_turn_that_ends_twice_frees_one_place() -> None:
    queue = FairQueue(1)
    first, second, third = begin(queue, "aaa")
    queue.end(first)
    queue.end(first)
    assert have_begun([second, third]) == [True, False]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20)), max_size=60), st.integers(1, 6), st.booleans())
def test_whatever_ends_in_whatever_order_every_turn_begins_at_last(
    steps: list[tuple[str, int]], most: int, leaves_room: bool
) -> None:
    queue, turns = FairQueue(most, leaves_room), list[Turn]()
    for caller, number in steps:
        turns += begin(queue, caller)
        ran = [turn for turn in turns if turn.has_begun]
        assert min(1, len(turns)) <= len(ran) <= most
        if number < len(ran):
            queue.end(ran[number])
            turns.remove(ran[number])
    while ready := [turn for turn in turns if turn.has_begun]:
        queue.end(ready[0])
        turns.remove(ready[0])
    assert (turns, queue.taken, queue.waiting) == ([], 0, 0)


@pytest.mark.django_db
def test_never_are_there_more_at_once_and_none_is_lost() -> None:
    queue, at_work = FairQueue(MOST, leaves_room=False), []

    def work(number: int) -> int:
        most = 0
        for timeout_seconds in (0, LONG_SECONDS, 0.0001) * 100:
            if turn := queue.wait(number, timeout_seconds):
                at_work.append(number)
                most = max(most, len(at_work))
                at_work.remove(number)
                queue.end(turn)
        return most

    assert max(at_once(12, work)) <= MOST
    assert (queue.taken, queue.waiting) == (0, 0)


def test_a_thread_that_returns_overtakes_none_that_waits() -> None:
    queue = FairQueue(1, leaves_room=False)
    [turn] = begin(queue, "a")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(queue.wait, "b", LONG_SECONDS)
        assert wait_until(lambda: queue.waiting == 1, LONG_SECONDS)
        queue.end(turn)
        assert not queue.wait("a", 0)
        assert waiting.result()


def test_a_thread_that_gave_up_is_skipped() -> None:
    queue = FairQueue(1)
    [turn] = begin(queue, "a")
    assert not queue.wait("b", 0.001)
    queue.end(turn)
    assert queue.wait("a", 0)


Pauses = list[tuple[float, Callable[[], None]]]


@pytest.mark.parametrize(("took", "pause"), [(0.25, 0.75), (30, PAUSE_MOST_SECONDS)])
def test_a_caller_has_a_pause_after_each_turn_and_others_have_not(took: float, pause: float) -> None:
    at, pauses = [100.0], Pauses()
    queue = PausingQueue(lambda *later: pauses.append(later), clock=lambda: at[0])
    first, second, other = begin(queue, "aab")
    at[0] += took
    queue.end(first)
    # It gave its place back when it began to wait, and ends later.
    queue.end(first)
    assert [seconds for seconds, _ in pauses] == [pause]
    assert have_begun([second, other]) == [False, True]
    queue.end(other)
    assert not second.has_begun
    pauses[0][1]()
    assert second.has_begun


def test_where_no_room_is_left_the_pause_is_that_of_all() -> None:
    at, pauses = [100.0], Pauses()
    queue = PausingQueue(lambda *later: pauses.append(later), leaves_room=False, clock=lambda: at[0])
    first, second = begin(queue, "ab")
    at[0] += 0.1
    queue.end(first)
    assert have_begun([second, *begin(queue, "c")]) == [False, False]
    pauses.pop()[1]()
    assert second.has_begun


def test_who_leaves_a_queue_with_pauses_while_waiting_causes_none() -> None:
    pauses = list[object]()
    queue = PausingQueue(lambda *later: pauses.append(later))
    _, second = begin(queue, "ab")
    queue.end(second)
    assert not pauses
    assert not queue.waiting

"""Slots that a caller may take, and callers that wait for their turn."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.concurrency.fair_queue import PAUSE_MOST_SECONDS, FairQueue, Share, Slots, Turn
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


def begin(share: Share, callers: str) -> list[Turn]:
    return [share.begin(caller, lambda: None) for caller in callers]


def have_begun(turns: list[Turn]) -> list[bool]:
    return [turn.has_begun for turn in turns]


@pytest.mark.parametrize(("leaves_room", "begun"), [(True, [True, True, False, False]), (False, [True] * 4)])
def test_one_caller_alone_has_half_of_the_places_where_room_is_left(leaves_room: bool, begun: list[bool]) -> None:
    assert have_begun(begin(Share(4, leaves_room), "aaaa")) == begun


@pytest.mark.parametrize("leaves_room", [True, False])
def test_of_a_crowd_of_callers_no_more_run_than_may(leaves_room: bool) -> None:
    assert have_begun(begin(Share(2, leaves_room), "abcdefgh")) == [True, True] + [False] * 6


def test_a_caller_of_whom_nothing_runs_is_next() -> None:
    share = Share(2)
    first, other, second, third = turns = begin(share, "abac")
    share.end(other)
    assert [turn for turn in turns if turn.has_begun] == [first, other, third]
    assert not second.has_begun


@pytest.mark.parametrize("leaves_room", [True, False])
def test_callers_that_wait_are_served_in_rotation(leaves_room: bool) -> None:
    share, served = Share(1, leaves_room), ""
    [running] = begin(share, "-")
    waiting = begin(share, "aaabbbc")
    while waiting:
        share.end(running)
        [running] = [turn for turn in waiting if turn.has_begun]
        waiting.remove(running)
        served += running.caller
    assert served == "abcabab"


def test_a_caller_who_comes_while_others_are_served_waits_for_one_turn_of_each() -> None:
    share = Share(1, leaves_room=False)
    first, second, third = begin(share, "aaa")
    share.end(first)
    [quiet] = begin(share, "q")
    share.end(second)
    assert have_begun([third, quiet]) == [True, False]
    share.end(third)
    assert quiet.has_begun


def test_a_turn_that_leaves_is_passed_over() -> None:
    share = Share(1)
    first, left, last = begin(share, "aba")
    share.end(left)
    share.end(first)
    assert (left.has_begun, last.has_begun, share.waiting) == (False, True, 0)


def test_a_turn_that_ends_twice_frees_one_place() -> None:
    share = Share(1)
    first, second, third = begin(share, "aaa")
    share.end(first)
    share.end(first)
    assert have_begun([second, third]) == [True, False]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20)), max_size=60), st.integers(1, 6), st.booleans())
def test_whatever_ends_in_whatever_order_every_turn_begins_at_last(
    steps: list[tuple[str, int]], most: int, leaves_room: bool
) -> None:
    share, turns = Share(most, leaves_room), list[Turn]()
    for caller, number in steps:
        turns += begin(share, caller)
        ran = [turn for turn in turns if turn.has_begun]
        assert min(1, len(turns)) <= len(ran) <= most
        if number < len(ran):
            share.end(ran[number])
            turns.remove(ran[number])
    while ready := [turn for turn in turns if turn.has_begun]:
        share.end(ready[0])
        turns.remove(ready[0])
    assert (turns, share.taken, share.waiting) == ([], 0, 0)


@pytest.mark.django_db
def test_never_are_there_more_at_once_and_none_is_lost() -> None:
    share, at_work = Share(MOST, leaves_room=False), []

    def work(number: int) -> int:
        most = 0
        for timeout_seconds in (0, LONG_SECONDS, 0.0001) * 100:
            if turn := share.wait(number, timeout_seconds):
                at_work.append(number)
                most = max(most, len(at_work))
                at_work.remove(number)
                share.end(turn)
        return most

    assert max(at_once(12, work)) <= MOST
    assert (share.taken, share.waiting) == (0, 0)


def test_a_thread_that_returns_overtakes_none_that_waits() -> None:
    share = Share(1, leaves_room=False)
    [turn] = begin(share, "a")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(share.wait, "b", LONG_SECONDS)
        assert wait_until(lambda: share.waiting == 1, LONG_SECONDS)
        share.end(turn)
        assert not share.wait("a", 0)
        assert waiting.result()


def test_a_thread_that_gave_up_is_skipped() -> None:
    share = Share(1)
    [turn] = begin(share, "a")
    assert not share.wait("b", 0.001)
    share.end(turn)
    assert share.wait("a", 0)


Pauses = list[tuple[float, Callable[[], None]]]


@pytest.mark.parametrize(("took", "pause"), [(0.25, 0.75), (30, PAUSE_MOST_SECONDS)])
def test_a_caller_has_a_pause_after_each_turn_and_others_have_not(took: float, pause: float) -> None:
    at, pauses = [100.0], Pauses()
    share = Share(1, later=lambda *later: pauses.append(later), clock=lambda: at[0])
    first, second, other = begin(share, "aab")
    at[0] += took
    share.end(first)
    # It gave its place back when it began to wait, and ends later.
    share.end(first)
    assert [seconds for seconds, _ in pauses] == [pause]
    assert have_begun([second, other]) == [False, True]
    share.end(other)
    assert not second.has_begun
    pauses[0][1]()
    assert second.has_begun


def test_where_no_room_is_left_the_pause_is_that_of_all() -> None:
    at, pauses = [100.0], Pauses()
    share = Share(1, leaves_room=False, later=lambda *later: pauses.append(later), clock=lambda: at[0])
    first, second = begin(share, "ab")
    at[0] += 0.1
    share.end(first)
    assert have_begun([second, *begin(share, "c")]) == [False, False]
    pauses.pop()[1]()
    assert second.has_begun


def test_who_leaves_a_share_with_pauses_while_waiting_causes_none() -> None:
    pauses = list[object]()
    share = Share(1, later=lambda *later: pauses.append(later))
    _, second = begin(share, "ab")
    share.end(second)
    assert not pauses
    assert not share.waiting


def test_shares_of_a_queue_leave_room_for_each_other_and_begin_each_others_turns() -> None:
    crowd, others = Share(2, queue=(queue := FairQueue(2))), Share(2, queue=queue)
    first, second, quiet, last = begin(crowd, "ab") + begin(others, "cd")
    assert have_begun([first, second, quiet, last]) == [True, False, True, False]
    crowd.end(first)
    others.end(quiet)
    assert have_begun([second, last]) == [True, True]

"""Slots of bulkheads: what one name may take, and what is left for the next."""

from collections import deque

import pytest

from payments.domain.bulkheads import Bulkheads, Slots


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

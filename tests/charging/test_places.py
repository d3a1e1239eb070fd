"""Places of bulkheads: what one name may take, and what is left for the next."""

from collections import deque

import pytest

from payments.domain.bulkheads import Bulkheads, Places


def taken(places: Places, name: object) -> int:
    count = 0
    while places.take(name):
        count += 1
    return count


@pytest.mark.parametrize(("names", "each"), [(1, 80), (2, 54), (3, 40)])
def test_however_many_are_slow_the_next_finds_room(names: int, each: int) -> None:
    places = Places(160, 160)
    growing = deque(range(names))
    while growing:
        name = growing.popleft()
        if places.take(name):
            growing.append(name)
    assert max(places._held.values()) == each
    # It leaves room for one more of its size in turn, so it has half of what is left.
    assert taken(places, "next") >= each // 2 - 1


def test_what_is_given_back_may_be_taken_again() -> None:
    places = Places(1)
    assert [places.take("it"), places.take("it")] == [True, False]
    places.give_back("it")
    assert places.take("it")


def test_a_slow_account_leaves_room_for_another_at_its_provider() -> None:
    assert Bulkheads(200).accounts.most == 60
    assert taken(Bulkheads(200).providers, "it") == 80

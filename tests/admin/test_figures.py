"""The figures of the first page: comparisons in words, round numbers, and bars that flatten no others."""

from collections import Counter
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.admin.figures.charts import (
    BOTTOM,
    BROKEN_TOP,
    OUTCOMES,
    STACKED,
    Axis,
    Chart,
    chart_of,
    round_numbers,
    usual_most,
)
from payments.admin.figures.comparisons import OF_AMOUNT, OF_CHANGE, OF_COUNT, Words, compared, compared_rates
from payments.overview.trade import Share

NUMBERED = Axis("Number", str, str, "last")
TOTALS = st.lists(st.integers(0, 10**6), min_size=1, max_size=90)


def share(approved: int = 0, declined: int = 0, abandoned: int = 0) -> Share:
    return Share(Counter(approved=approved, declined=declined, abandoned=abandoned))


def chart(shares: list[Share]) -> Chart:
    return chart_of(dict(enumerate(shares)), NUMBERED, lambda share: f"{share.counts.total()}", [])


@pytest.mark.parametrize(
    ("value", "before", "words", "text"),
    [
        (0, 0, OF_COUNT, ""),
        (7, 7, OF_COUNT, "as before"),
        (7, 0, OF_COUNT, ""),
        (0, 7, OF_COUNT, "none now"),
        (109, 100, OF_COUNT, "9% more"),
        (97, 100, OF_COUNT, "3% fewer"),
        (132, 100, OF_AMOUNT, "32% more than before"),
        (92, 100, OF_CHANGE, "\N{MINUS SIGN}8%"),
        (1_000_001, 1_000_000, OF_CHANGE, "+1%"),
        (200, 100, OF_COUNT, "twice as many"),
        (270, 100, OF_AMOUNT, "3 times as much as before"),
        (1771, 100, OF_COUNT, "many times as many"),
    ],
)
def test_a_comparison_is_in_words(value: int, before: int, words: Words, text: str) -> None:
    assert compared(value, before, words) == text


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_no_comparison_has_a_hundred_percent_or_more(value: int, before: int) -> None:
    assert all(0 < int(part.rstrip("%")) < 100 for part in compared(value, before, OF_COUNT).split() if "%" in part)


@pytest.mark.parametrize(
    ("rate", "before", "text"),
    [(0.889, 0.946, "6 points lower"), (0.51, 0.5, "1 point higher"), (0.5, 0.501, "as before"), (None, 0.5, "")],
)
def test_rates_are_compared_in_points(rate: float | None, before: float, text: str) -> None:
    assert compared_rates(rate, before) == text


@given(st.integers(1, 10**9))
def test_few_round_numbers_reach_the_largest_bar_and_not_far_above(most: int) -> None:
    numbers = round_numbers(most)
    assert (numbers[0], 2 <= len(numbers) <= 6, numbers[-2] < most <= numbers[-1]) == (0, True, True)
    assert str(numbers[1]).rstrip("0") in {"1", "2", "5"}


@given(TOTALS)
def test_what_is_broken_off_is_rare_and_far_above_all_others(totals: list[int]) -> None:
    most = usual_most(totals)
    flattening = [total for total in totals if total > most]
    assert len(flattening) <= max(len(totals) // 10, 1)
    assert all(total > 1.8 * max(each for each in totals if each <= most) for total in flattening)


@given(st.lists(st.builds(share, *[st.integers(0, 10**6)] * 3), min_size=1, max_size=30))
def test_bars_stand_on_each_other_within_the_chart(shares: list[Share]) -> None:
    for place in chart(shares).places:
        bottom = float(BOTTOM)
        for bar in place.bars:
            assert BROKEN_TOP <= bar.y < bar.y + bar.height <= bottom + 0.01
            bottom = bar.y


def test_a_day_that_would_flatten_the_others_says_its_number() -> None:
    drawn = chart([*[share(60, 4, 3)] * 8, share(38, 104, 1), share(50)])
    assert [place.broken_y is not None for place in drawn.places] == [False] * 8 + [True, False]
    assert [words.text for words in drawn.words] == ["104 declined"]
    assert [text for _, text in drawn.lines] == ["0", "50", "100", "0", "20", "40", "60", "80"]


@given(st.builds(share, *[st.integers(0, 10**5)] * 3))
def test_a_broken_bar_keeps_each_part_in_its_order_and_breaks_inside_the_longest(burst: Share) -> None:
    drawn = chart([*[share(10, 1, 1)] * 8, burst])
    place = drawn.places[-1]
    assert [bar.mark for bar in place.bars] == [OUTCOMES[each].mark for each in STACKED if burst.counts[each]]
    if place.broken_y is not None:
        longest = max(zip(place.bars, filter(None, map(burst.counts.get, STACKED)), strict=True), key=itemgetter(1))[0]
        assert longest.y < place.broken_y < longest.y + longest.height
        assert [words.y for words in drawn.words] == [place.broken_y]


def test_the_line_of_the_rate_has_gaps_where_no_charge_ended() -> None:
    drawn = chart([share(1), share(1, 1), share(), share(2), share(), share(1, 3), share(abandoned=1)])
    assert [(round(first[0]), round(second)) for *first, second, _ in drawn.rate] == [(7, 21)]
    assert [round(x) for x, _ in drawn.dots] == [50, 79]


def test_the_last_place_has_its_name_and_few_others_a_label() -> None:
    labels = [place.label for place in chart([share(1)] * 30).places]
    assert [label for label in labels if label] == ["4", "9", "14", "19", "24", "last"]

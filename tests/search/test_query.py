"""What an operator types, as it is understood."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.search.lexemes import LEXEME_MAX_LENGTH, LEXEMES_MAX, amount_lexeme, at_most, word, words
from payments.search.query import TERMS_MAX, Query, parse

TODAY = date(2026, 11, 22)
DAY = timedelta(days=1)


def lexemes(text: str) -> list[list[str]]:
    """Return the lexemes of each term of a query; a star marks a beginning."""
    return [[each.text + "*" * each.is_prefix for each in term.lexemes] for term in parse(text, TODAY).terms]


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("4242", ["#4242", "=e4242", "4242*"]),
        ("1250", ["#1250", "=e1250", "1250*"]),
        ("1,250.00", ["=e1250", "1,250.00*"]),
        ("₱1,250.50", ["=e12505", "1,250.50*"]),
        ("PHP1250", ["=e1250", "php1250*"]),
        ("…4242", ["#4242", "~2424*"]),
        ("****4242", ["#4242"]),
        ("Juan@Example.com", ["juan@example.com*"]),
        ("Niño", ["nino*"]),
        ("#A-1042", ["a-1042*"]),
        ("ab", ["ab"]),
        ('"4242"', ["4242"]),
        ("+639171234567", ["=m639171234567", "639171234567*"]),
        ("0917-123-4567", ["09171234567*", "0917-123-4567*"]),
        ("+63 (917) 123 4567", ["=m639171234567", "639171234567*"]),
        ("4F7A 91c2", ["~2c19a7f4*", "4f7a91c2*"]),
        ("ch_0195…3f9a", ["~a9f3*"]),
        ("3e26d", ["~d62e3*", "3e26d*"]),
        ("aaaa1111bbbb", ["~bbbb1111*", "aaaa1111bbbb*"]),
        ("0077", ["#0077", "=c77", "0077*"]),
    ],
)
def test_a_word_is_tried_as_all_that_it_may_be(typed: str, understood: list[str]) -> None:
    assert lexemes(typed) == [understood]


AMOUNTS = st.decimals(0, 99_999, places=2)


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_a_span_has_the_amounts_between_its_ends(one: Decimal, other: Decimal, amount: Decimal) -> None:
    (term,) = parse(f"{one}..₱{other}", TODAY).terms
    stored = amount_lexeme(amount)
    is_found = any(stored.startswith(each.text) if each.is_prefix else stored == each.text for each in term.lexemes)
    assert is_found == (min(one, other) <= amount <= max(one, other))


def test_a_span_says_its_ends() -> None:
    assert parse("2,000..1000.50", TODAY).meanings == ["an amount from 1,000.50 to 2,000.00"]


@pytest.mark.parametrize("typed", ["1..", "..1", "1..2..3", "a..b", "1...2"])
def test_points_without_two_amounts_are_no_span(typed: str) -> None:
    assert not any("from" in meaning for meaning in parse(typed, TODAY).meanings)


@given(st.text("abc", min_size=4, max_size=5), st.text("abc", min_size=3, max_size=6))
def test_one_error_is_a_letter_too_few_too_many_wrong_or_exchanged(typed: str, name: str) -> None:
    (term,) = parse(typed, TODAY).with_one_error(list).terms
    found = {each.text for each in term.lexemes if not each.is_prefix}
    assert (name in found) == (distance(typed, name) <= 1)


def distance(one: str, other: str) -> int:
    """Return the optimal string alignment distance: one for a letter too few, too many or wrong, or two exchanged."""
    if not one or not other:
        return len(one) + len(other)
    steps = [distance(one[1:], other) + 1, distance(one, other[1:]) + 1]
    steps.append(distance(one[1:], other[1:]) + (one[0] != other[0]))
    if one[:2] == other[1::-1] and len(one) > 1 < len(other):
        steps.append(distance(one[2:], other[2:]) + 1)
    return min(steps)


@pytest.mark.parametrize("typed", ["ana", '"santos"', "1250", "…3f9a", "today", "a1b2c3"])
def test_short_names_quoted_words_and_numbers_are_taken_as_typed(typed: str) -> None:
    query = parse(typed, TODAY)
    assert query.with_one_error(list) == query


@pytest.mark.parametrize("typed", ["cafe 1250", "face bead", "2026 1250"])
def test_two_words_or_numbers_are_no_reference(typed: str) -> None:
    assert len(lexemes(typed)) == 2


def test_all_of_several_words_are_looked_for() -> None:
    query = parse("4242 1250 yesterday", TODAY)
    assert [term.typed for term in query.terms] == ["4242", "1250"]
    assert query.days == (TODAY - DAY, TODAY - DAY)
    assert query.meanings == [
        "a card that ends in 4242, an amount of 4,242.00 or a word that begins with “4242”",
        "a card that ends in 1250, an amount of 1,250.00 or a word that begins with “1250”",
        "created on 21 Nov 2026",
    ]


@pytest.mark.parametrize(
    ("typed", "days"),
    [
        ("today", (TODAY, TODAY)),
        ("Yesterday today", (TODAY - DAY, TODAY)),
        ("2026-11-03", (date(2026, 11, 3), date(2026, 11, 3))),
        ("2026-10", (date(2026, 10, 1), date(2026, 10, 31))),
        ("2026-11-03 2026-10-30", (date(2026, 10, 30), date(2026, 11, 3))),
        ("22 Nov", (TODAY, TODAY)),
        ("nov 23", (date(2025, 11, 23), date(2025, 11, 23))),
        ("3 March 2024", (date(2024, 3, 3), date(2024, 3, 3))),
        ("feb 29", (date(2024, 2, 29), date(2024, 2, 29))),
    ],
)
def test_days_are_those_of_the_calendar(typed: str, days: tuple[date, date]) -> None:
    assert parse(typed, TODAY) == Query((), days)


@pytest.mark.parametrize("typed", ["2026-13-01", "2026-02-30", "0001-01-01", "9999-12", "31 nov", "today's"])
def test_what_no_calendar_has_is_looked_for_as_text(typed: str) -> None:
    assert parse(typed, TODAY).days is None
    assert parse(typed, TODAY).terms


@pytest.mark.parametrize("typed", ["", "  ", "-", "'", ":*", "&|!", '""', '" "', "₱", "…"])
def test_signs_alone_ask_for_nothing(typed: str) -> None:
    assert parse(typed, TODAY) == Query()


@given(st.text(max_size=200))
def test_any_text_is_a_query_that_can_be_typed_again(text: str) -> None:
    query = parse(text, TODAY)
    assert len(query.terms) <= TERMS_MAX
    assert len(query.meanings) == len(query.parts)
    assert parse(" ".join(query.parts), TODAY) == query


@given(st.lists(st.dates(date(2000, 1, 1), date(2099, 12, 31)), min_size=1, max_size=4))
def test_several_days_are_a_span(days: list[date]) -> None:
    assert parse(" ".join(map(str, days)), TODAY).days == (min(days), max(days))


@given(st.decimals(Decimal("0.01"), Decimal("99999999.99"), places=2))
def test_an_amount_is_found_however_it_is_written(number: Decimal) -> None:
    for text in (f"{number:,.2f}", f"{number:f}", f"${number:,.2f}", f"PHP{number}"):
        assert amount_lexeme(number) in lexemes(text)[0]


@given(st.text(max_size=300))
def test_each_word_of_a_text_finds_the_text(text: str) -> None:
    found = set(words(text))
    for typed in text.split():
        whole = word(typed)
        assert whole in found or not whole
    assert all(each and len(each) <= LEXEME_MAX_LENGTH and each[0].isalnum() for each in found)


def test_an_object_has_a_bounded_number_of_lexemes() -> None:
    assert len(at_most(map(str, range(10_000)))) == LEXEMES_MAX


def test_parts_of_an_address_and_of_a_number_are_words() -> None:
    assert set(words("juan.cruz@mail.example.com")) == {
        "juan.cruz@mail.example.com",
        "juan.cruz",
        "mail.example.com",
        "juan",
        "cruz",
        "mail",
        "example",
        "com",
    }
    assert set(words("INV-2026/77")) == {"inv-2026/77", "inv", "2026", "77"}

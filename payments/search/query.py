"""What an operator typed into the search: terms that must all be met, each in one of several ways, and days."""

import re
from calendar import month_abbr, month_name, monthrange
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from django.utils.dateformat import format as in_format
from django.utils.translation import gettext as _

from payments.models.charging.shown_states import SHOWN_STATES
from payments.money import KNOWN_CURRENCIES, TYPED
from payments.search.lexemes import (
    amount_lexeme,
    amount_span,
    digits_of,
    end_lexeme,
    last4_lexeme,
    one_error_pattern,
    state_lexeme,
    with_one_error,
    word,
    words,
)

# More terms make no search better, and each costs a scan.
TERMS_MAX = 8
# A shorter word is compared whole, because its beginnings would be of too many words.
PREFIX_MIN_LENGTH = 3
# With spaces, its plus separates it from amounts.
SPACED_PHONE = re.compile(r"\+[0-9][0-9 ().-]{5,23}[0-9]")
PHONE = re.compile(r"[0-9(][0-9()/-]{5,23}[0-9]")
# Digits alone may be numbers, and letters alone words.
_GROUP = "(?![a-f]{4})([0-9a-f]{4})"
SPACED_REFERENCE = re.compile(rf"\b(?![0-9 ]{{9}}\b){_GROUP} {_GROUP}\b", re.IGNORECASE)
# As the admin shows an ID, and the end of one: letters alone may be a word, and few digits alone a number.
SHORT_ID = re.compile(r"(?:[a-z]{2,5}_)?[0-9a-f]*(?:…|\.\.\.)([0-9a-f]{4,31})", re.IGNORECASE)
ID_END = re.compile(r"(?=.*[a-f])(?=.*[0-9])[0-9a-f]{5,31}|[0-9a-f]{8}", re.IGNORECASE)
QUOTED = re.compile(r'"([^"]*)"')
LAST4 = re.compile(r"(?P<marked>[*•…xX.]*)(?P<digits>[0-9]{4})")
SYMBOLS = "₱$€£¥"
SPAN = re.compile(r"(?P<low>.*[0-9])\.\.(?P<high>[^.].*)")
# A shorter word becomes too many others by one error.
NAME = re.compile("[a-z]{4,16}")
ISO_DAYS = re.compile(r"(?P<year>20[0-9]{2})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?")
MONTHS = {name.lower(): number for names in (month_abbr, month_name) for number, name in enumerate(names) if name}
_MONTH = "|".join(MONTHS)
NAMED_DAY = re.compile(
    rf"\b(?:(?P<day>[0-9]{{1,2}}) (?P<month>{_MONTH})|(?P<month_first>{_MONTH}) (?P<day_last>[0-9]{{1,2}})),?"
    r"(?: (?P<year>20[0-9]{2}))?(?= |$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Lexeme:
    """A lexeme to compare: whole, or as the beginning of others."""

    text: str
    is_prefix: bool = False


@dataclass(frozen=True)
class Term:
    """One term as typed: its lexemes, of which an object must have one, and what they stand for in words."""

    typed: str
    lexemes: tuple[Lexeme, ...]
    meaning: str
    # The regular expression for what a name is but for one error; "" for what was typed without one.
    pattern: str = ""

    @property
    def word(self) -> str:
        """Return the word that it may stand for; "" if it stands for none."""
        return next((lexeme.text for lexeme in self.lexemes if lexeme.text == word(self.typed)), "")


@dataclass(frozen=True)
class Query:
    """The terms, and the first and last day in the operator's time zone."""

    terms: tuple[Term, ...] = ()
    days: tuple[date, date] | None = None

    @property
    def in_words(self) -> str:
        """Return what is looked for, in one line."""
        *others, last = self.meanings
        return _("{others}, and {last}").format(others=", ".join(others), last=last) if others else last

    @property
    def meanings(self) -> list[str]:
        """Return what is looked for, a line for each term and one for the days."""
        return [term.meaning for term in self.terms] + ([_span(self.days)] if self.days else [])

    def with_one_error(self, stored: Callable[[list[str]], Iterable[str]]) -> "Query":
        """Return the query for names that differ by one letter; `stored` returns those words that anything has."""
        return replace(self, terms=tuple(_with_one_error(term, stored) for term in self.terms))

    @property
    def parts(self) -> list[str]:
        """Return each term and the days as they can be typed again, in the order of `meanings`."""
        days = [" ".join(f"{day}" for day in dict.fromkeys(self.days))] if self.days else []
        return [term.typed for term in self.terms] + days


def parse(text: str, today: date) -> Query:
    """Return what `text` asks for; `today` is the operator's. Words without a letter or digit ask for nothing."""
    terms = [quoted_term(typed) for inside in QUOTED.findall(text) for typed in inside.split()]
    unquoted = SPACED_PHONE.sub(lambda phone: digits_of(phone[0]), QUOTED.sub(" ", text))
    unquoted = SPACED_REFERENCE.sub(r"\1\2", unquoted)
    rest, days = _without_named_days(" ".join(unquoted.split()), today)
    for typed in rest.split():
        named = days_of(typed, today)
        days += named or []
        terms += [] if named else [term_of(typed)]
    found = tuple(dict.fromkeys(filter(None, terms)))
    return Query(found[:TERMS_MAX], (min(days), max(days)) if days else None)


def term_of(typed: str) -> Term | None:
    """Return the term of a typed word: the end of a card number, an amount, a word. None where it can be nothing."""
    ways = list(_amounts_between(typed)) or list(_ways(typed))
    if not ways:
        return None
    *others, last = dict.fromkeys(meaning for _, meaning in ways)
    return Term(
        typed,
        tuple(way for way, _ in ways),
        _("{others} or {last}").format(others=", ".join(others), last=last) if others else last,
    )


def _with_one_error(term: Term, stored: Callable[[list[str]], Iterable[str]]) -> Term:
    if not NAME.fullmatch(term.word) or term.typed.startswith('"'):
        return term
    near = tuple(map(Lexeme, sorted(stored([*{*with_one_error(term.word)}]))))
    return Term(
        term.typed,
        (*term.lexemes, *near),
        _("a name like “{word}”").format(word=term.word),
        one_error_pattern(term.word),
    )


def quoted_term(typed: str) -> Term | None:
    """Return the term of a word in quotation marks, which is compared whole and is nothing but a word."""
    whole = word(typed)
    return Term(f'"{typed}"', (Lexeme(whole),), _("the word “{word}”").format(word=whole)) if whole else None


def days_of(typed: str, today: date) -> list[date]:
    """Return the days that a word names, the first and the last: today, yesterday, 2026-11-22, 2026-11. Else none."""
    if typed.lower() in ("today", "yesterday"):
        return [today - timedelta(days=typed.lower() == "yesterday")]
    found = ISO_DAYS.fullmatch(typed)
    if found is None:
        return []
    try:
        first = date(int(found["year"]), int(found["month"]), int(found["day"] or 1))
    except ValueError:
        return []
    return [first] if found["day"] else [first, first.replace(day=monthrange(first.year, first.month)[1])]


def _amounts_between(typed: str) -> Iterator[tuple[Lexeme, str]]:
    """Yield the amounts that a typed span has; nothing where it is none."""
    span = SPAN.fullmatch(typed)
    bounds = sorted(number for number in map(_number_of, span.groups()) if number is not None) if span else []
    if len(bounds) == 2:
        least, most = (f"{bound:,.2f}" for bound in bounds)
        meaning = _("an amount from {least} to {most}").format(least=least, most=most)
        yield from ((Lexeme(*each), meaning) for each in amount_span(*bounds))


def _ways(typed: str) -> Iterator[tuple[Lexeme, str]]:
    """Yield what a typed word may be: the end of a card number or of an ID, an amount, a word."""
    card, short_id = LAST4.fullmatch(typed), SHORT_ID.fullmatch(typed)
    if card:
        yield Lexeme(last4_lexeme(card["digits"])), _("a card that ends in {digits}").format(digits=card["digits"])
    end = short_id[1] if short_id else typed if ID_END.fullmatch(typed) else ""
    if end:
        yield Lexeme(end_lexeme(end), is_prefix=True), _("an ID that ends in {digits}").format(digits=end.lower())
    if short_id or (card and card["marked"]):
        return
    number = _number_of(typed)
    if number is not None:
        yield Lexeme(amount_lexeme(number)), _("an amount of {amount}").format(amount=f"{number:,.2f}")
    if PHONE.fullmatch(typed) and not typed.isdigit():
        yield Lexeme(digits_of(typed), is_prefix=True), _("the number {digits}").format(digits=digits_of(typed))
    whole = word(typed)
    if whole:
        is_prefix = len(whole) >= PREFIX_MIN_LENGTH
        yield from _states(whole) if is_prefix else ()
        meaning = _("a word that begins with “{word}”") if is_prefix else _("the word “{word}”")
        yield Lexeme(whole, is_prefix), meaning.format(word=whole)


def _states(whole: str) -> Iterator[tuple[Lexeme, str]]:
    """Yield the states that a word asks for, in the words of the lists."""
    for state in SHOWN_STATES:
        if any(each.startswith(whole) for each in words(f"{state.label} {state.name} {state.asked_as}")):
            yield Lexeme(state_lexeme(state.name)), _("the state “{state}”").format(state=state.label)


def _number_of(typed: str) -> Decimal | None:
    """Return a typed amount in whole units: of 1250, 1,250.00, ₱1,250 or PHP1250."""
    bare = typed.lstrip(SYMBOLS)
    if bare[:3].upper() in KNOWN_CURRENCIES:
        bare = bare[3:]
    return Decimal(bare.replace(",", "")) if TYPED.fullmatch(bare) else None


def _without_named_days(text: str, today: date) -> tuple[str, list[date]]:
    """Return the text without days such as `22 Nov`, `Nov 22` or `22 November 2026`, and these days."""
    days = []

    def take(found: re.Match[str]) -> str:
        day = _named_day(found, today)
        if day:
            days.append(day)
        return "" if day else found[0]

    return NAMED_DAY.sub(take, text), days


def _named_day(found: re.Match[str], today: date) -> date | None:
    """Return the day; without a year the last one that is not after today. None for one that no calendar has."""
    month, day = MONTHS[(found["month"] or found["month_first"]).lower()], int(found["day"] or found["day_last"])
    years = [int(found["year"])] if found["year"] else range(today.year, today.year - 8, -1)
    for year in years:
        if 1 <= day <= monthrange(year, month)[1] and (found["year"] or date(year, month, day) <= today):
            return date(year, month, day)
    return None


def _span(days: tuple[date, date]) -> str:
    first, last = (in_format(day, "d M Y") for day in days)
    if first == last:
        return _("created on {day}").format(day=first)
    return _("created from {first} to {last}").format(first=first, last=last)

"""The charges, checkouts, customers and merchants that a query finds, within an operator's merchants."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from payments.ids import first_id
from payments.models import Merchant, SearchEntry, SearchProgress
from payments.models.merchants.merchant_access import Limit, within
from payments.search.lexemes import customer_lexeme, merchant_lexeme
from payments.search.query import PREFIX_MIN_LENGTH, Lexeme, Query, Term

Kind = SearchEntry.Kind
# Up to so many hits are listed by their IDs. PostgreSQL cannot foresee which words are rare: asked for the newest hits
# of a rare one, it reads all entries from the newest on, while any 2,000 are found by the index or at once.
FEW_MAX = 2_000
# A word that names more merchants or customers than this is looked for as a word of charges alone.
NAMED_MAX = 20
# For so many alternatives in one condition, and for EXISTS, PostgreSQL would read all entries in place of the index.
STORED = """
SELECT word FROM unnest(%s::text[]) word WHERE 0 <
    (SELECT count(*) FROM payments_searchentry WHERE kind = 'charge' AND lexemes @@ word::tsquery)
    + (SELECT count(*) FROM payments_searchentry WHERE kind = 'customer' AND lexemes @@ word::tsquery)
    + (SELECT count(*) FROM payments_searchentry WHERE kind = 'checkout' AND lexemes @@ word::tsquery)
    + (SELECT count(*) FROM payments_searchentry WHERE kind = 'link' AND lexemes @@ word::tsquery)
"""


@dataclass(frozen=True)
class Found:
    """What a query finds: `rows` with its keys, and all keys, newest first; None for more than FEW_MAX."""

    rows: QuerySet[Any]
    few: list[UUID] | None

    @property
    def condition(self) -> Q:
        """Return the condition for the objects that were found."""
        return Q(pk__in=self.rows.values("pk") if self.few is None else self.few)

    def newest(self, count: int) -> list[UUID]:
        """Return the keys of the newest `count`."""
        if self.few is not None:
            return self.few[:count]
        return list(self.rows.order_by("-pk").values_list("pk", flat=True)[:count])


def charges(query: Query, limit: Limit) -> Found:
    """Return the charges that `query` finds; a word also stands for the merchants and customers whom it names."""
    return _sales(Kind.CHARGE, query, limit)


def checkouts(query: Query, limit: Limit) -> Found:
    """Return the sessions and payment requests that `query` finds, as `charges` does."""
    return _sales(Kind.CHECKOUT, query, limit)


def links(query: Query, limit: Limit) -> Found:
    """Return the payment links that `query` finds, as `charges` does."""
    return _sales(Kind.LINK, query, limit)


def with_one_error(query: Query) -> Query | None:
    """Return the query for names that differ from those typed by one letter; None where no name was typed."""
    near = query.with_one_error(_stored)
    return near if near != query else None


def _stored(words: list[str]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(STORED, [words])
        return [word for (word,) in cursor.fetchall()]


def of_customer(customer_id: UUID) -> "QuerySet[SearchEntry]":
    """Return the entries of the checkouts of a customer."""
    return SearchEntry.objects.filter(kind=Kind.CHECKOUT, lexemes__meet=_quoted(Lexeme(customer_lexeme(customer_id))))


def customers(query: Query, limit: Limit) -> Found:
    """Return the customers that `query` finds."""
    return _found_in(_entries(Kind.CUSTOMER, [term.lexemes for term in query.terms], query, limit))


def merchants(query: Query, limit: Limit) -> Found:
    """Return the merchants whose names have all words of `query`; none where it asks for days too."""
    found = Merchant.objects.filter(within(limit, "pk"))
    if query.days or not query.terms or not all(term.word for term in query.terms):
        return Found(found.none(), [])
    for term in query.terms:
        way, text = ("iregex", term.pattern) if term.pattern else ("icontains", term.typed.strip('"'))
        found = found.filter(Q(**{f"title__{way}": text}) | Q(**{f"account_name__{way}": text}))
    return _found_in(found)


def complete_to() -> datetime | None:
    """Return the moment up to which everything can be found; None before the worker ran."""
    return SearchProgress.objects.values_list("complete_to", flat=True).first()


def _found_in(rows: QuerySet[Any]) -> Found:
    keys = list(rows.order_by().values_list("pk", flat=True)[: FEW_MAX + 1])
    return Found(rows, sorted(keys, reverse=True) if len(keys) <= FEW_MAX else None)


def _sales(kind: Kind, query: Query, limit: Limit) -> Found:
    terms = [(*term.lexemes, *_named_by(term, limit)) for term in query.terms]
    return _found_in(_entries(kind, terms, query, limit))


def _entries(
    kind: SearchEntry.Kind, terms: list[tuple[Lexeme, ...]], query: Query, limit: Limit
) -> "QuerySet[SearchEntry]":
    entries = SearchEntry.objects.filter(kind=kind, **_id_range(query))
    if limit is not None:
        terms = [*terms, tuple(Lexeme(merchant_lexeme(merchant)) for merchant in limit)]
    is_asked = query.terms or query.days
    if not is_asked or not all(terms):
        return entries.none()
    return entries.filter(lexemes__meet=" & ".join(map(_any_of, terms))) if terms else entries


def _named_by(term: Term, limit: Limit) -> Iterator[Lexeme]:
    """Yield the lexemes of the merchants and customers that a term's word names, if they are few."""
    if len(term.word) < PREFIX_MIN_LENGTH:
        return
    query = Query((term,))
    for found, lexeme in ((merchants(query, limit), merchant_lexeme), (customers(query, limit), customer_lexeme)):
        if found.few and len(found.few) <= NAMED_MAX:
            yield from map(Lexeme, map(lexeme, found.few))


def _id_range(query: Query) -> dict[str, Any]:
    """Return the range of IDs created on the days of a query, which begin at local midnight."""
    if query.days is None:
        return {}
    first, last = query.days
    begin, end = (timezone.make_aware(datetime.combine(day, time())) for day in (first, last + timedelta(days=1)))
    return {"pk__gte": first_id(begin), "pk__lt": first_id(end)}


def _any_of(lexemes: tuple[Lexeme, ...]) -> str:
    """Return the text form of a `tsquery` that one of these lexemes meets."""
    return f"({' | '.join(map(_quoted, lexemes))})"


def _quoted(lexeme: Lexeme) -> str:
    text = lexeme.text.replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'{':*' if lexeme.is_prefix else ''}"

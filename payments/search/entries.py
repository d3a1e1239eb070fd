"""The entries of charges, made from what is stored of them, their payers and their attempts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db.models import Func, TextField, Value

from payments.models import Attempt, Charge, SearchEntry
from payments.money import major_units
from payments.search.lexemes import (
    amount_lexeme,
    at_most,
    customer_lexeme,
    last4_lexeme,
    merchant_lexeme,
    texts_in,
    word,
    words,
)

# The entries that the objects with these IDs have now; an object without one is not found any more.
Maker = Callable[[Sequence[UUID]], Iterable[SearchEntry]]


def charge_entries(ids: Sequence[UUID]) -> Iterator[SearchEntry]:
    """Yield the entries of these charges."""
    named: dict[UUID, list[str]] = {}
    for charge_id, *names in Attempt.objects.filter(charge__in=ids).values_list(
        "charge_id", "provider_ref", "idempotency_key", "response__acquirerReference"
    ):
        named.setdefault(charge_id, []).extend(str(name) for name in names if name)
    for charge in Charge.objects.filter(pk__in=ids).select_related("source__card"):
        lexemes = at_most(_charge_lexemes(charge, named.get(charge.pk, [])))
        yield entry(SearchEntry.Kind.CHARGE, charge, lexemes)


def entry(kind: SearchEntry.Kind, row: Any, lexemes: list[str]) -> SearchEntry:
    """Return the entry of a charge or customer, with its ID, merchant and mode."""
    stored = Func(
        Value([*lexemes, merchant_lexeme(row.merchant_id)], output_field=ArrayField(TextField())),
        function="array_to_tsvector",
        output_field=SearchVectorField(),
    )
    return SearchEntry(id=row.pk, kind=kind, merchant_id=row.merchant_id, livemode=row.livemode, lexemes=stored)


def _charge_lexemes(charge: Charge, names: list[str]) -> Iterator[str]:
    """Yield what a charge is found by, what identifies it first: there is a limit."""
    source = charge.source
    card = getattr(source, "card", None)
    if charge.customer_id:
        yield customer_lexeme(charge.customer_id)
    for amount in (charge.amount, charge.amount_captured, charge.amount_refunded):
        if amount:
            yield amount_lexeme(major_units(amount, charge.currency))
    if card:
        yield last4_lexeme(card.last4)
        yield from words(f"{card.brand} {card.name}")
    yield from filter(None, map(word, names))
    yield from words(f"{charge.currency} {charge.status} {source.type} {charge.description}")
    named = [*(charge.metadata or {}), *(source.metadata or {})]
    account_name = (source.bank_account or {}).get("account_name")
    for value in (source.owner, account_name, charge.metadata, source.metadata, named, card and card.address):
        for text in texts_in(value):
            yield from words(text)

"""The entries of charges and checkout sessions, made from what is stored of them, their payers and their attempts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db.models import Func, TextField, Value

from payments.ids import short_reference
from payments.models import Attempt, Charge, Checkout, SearchEntry
from payments.money import major_units
from payments.search.lexemes import (
    amount_lexeme,
    at_most,
    customer_lexeme,
    last4_lexeme,
    merchant_lexeme,
    reference_lexeme,
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


def session_entries(ids: Sequence[UUID]) -> Iterator[SearchEntry]:
    """Yield the entries of the sessions among these checkouts."""
    for session in Checkout.objects.filter(pk__in=ids, kind=Checkout.Kind.SESSION):
        yield entry(SearchEntry.Kind.CHECKOUT, session, at_most(_session_lexemes(session)))


def entry(kind: SearchEntry.Kind, row: Any, lexemes: list[str]) -> SearchEntry:
    """Return the entry of an object, with its ID, merchant and mode."""
    stored = Func(
        Value([*lexemes, merchant_lexeme(row.merchant_id)], output_field=ArrayField(TextField())),
        function="array_to_tsvector",
        output_field=SearchVectorField(),
    )
    return SearchEntry(id=row.pk, kind=kind, merchant_id=row.merchant_id, livemode=row.livemode, lexemes=stored)


def _charge_lexemes(charge: Charge, names: list[str]) -> Iterator[str]:
    """Yield what a charge is found by, what identifies it first: there is a limit."""
    yield reference_lexeme(short_reference(charge.id))
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


def _session_lexemes(session: Checkout) -> Iterator[str]:
    """Yield what a session is found by, what identifies it first; of its order, not the addresses of pages."""
    if session.customer_id:
        yield customer_lexeme(session.customer_id)
    yield amount_lexeme(major_units(session.amount, session.currency))
    order = session.order
    payer = [session.payer, *(order.get(f"customer_{name}") for name in ("email", "name", "phone"))]
    items = [[item["name"], item.get("description")] for item in order.get("line_items") or []]
    metadata = order.get("metadata") or {}
    words_of_ours = f"{session.currency} {session.state}"
    texts = [session.client_reference_id, payer, words_of_ours, order.get("description"), items, metadata, *metadata]
    for text in texts_in(texts):
        yield from words(text)

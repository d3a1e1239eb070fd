"""The entries of charges, checkouts and payment links, made from what is stored of them, their payers and attempts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db.models import Func, TextField, Value

from payments.models import Attempt, Charge, Checkout, Dispute, PaymentLink, Refund, SearchEntry
from payments.money import major_units
from payments.search.lexemes import (
    amount_lexeme,
    at_most,
    customer_lexeme,
    end_lexeme,
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
    ends: dict[UUID, list[UUID]] = {charge_id: [charge_id] for charge_id in ids}
    for about in (Refund, Dispute):
        for charge_id, own_id in about._default_manager.filter(charge__in=ids).values_list("charge_id", "pk"):
            ends[charge_id].append(own_id)
    for charge_id, *names in Attempt.objects.filter(charge__in=ids).values_list(
        "charge_id", "provider_ref", "idempotency_key", "response__acquirerReference"
    ):
        named.setdefault(charge_id, []).extend(str(name) for name in names if name)
    for charge in Charge.objects.filter(pk__in=ids).select_related("source__card"):
        lexemes = at_most(_charge_lexemes(charge, ends[charge.pk], named.get(charge.pk, [])))
        yield entry(SearchEntry.Kind.CHARGE, charge, lexemes)


def checkout_entries(ids: Sequence[UUID]) -> Iterator[SearchEntry]:
    """Yield the entries of the sessions and requests among these checkouts."""
    found = Checkout.objects.filter(pk__in=ids).exclude(kind=Checkout.Kind.LINK).select_related("request")
    for checkout in found:
        yield entry(SearchEntry.Kind.CHECKOUT, checkout, at_most(_checkout_lexemes(checkout)))


def link_entries(ids: Sequence[UUID]) -> Iterator[SearchEntry]:
    """Yield the entries of these payment links."""
    for link in PaymentLink.objects.filter(pk__in=ids):
        lexemes = [end_lexeme(link.pk.hex), *_words_in([link.internal_name, *_sold_in(link.order)])]
        yield entry(SearchEntry.Kind.LINK, link, at_most(lexemes))


def entry(kind: SearchEntry.Kind, row: Any, lexemes: list[str]) -> SearchEntry:
    """Return the entry of an object, with its ID, merchant and mode."""
    stored = Func(
        Value([*lexemes, merchant_lexeme(row.merchant_id)], output_field=ArrayField(TextField())),
        function="array_to_tsvector",
        output_field=SearchVectorField(),
    )
    return SearchEntry(id=row.pk, kind=kind, merchant_id=row.merchant_id, livemode=row.livemode, lexemes=stored)


def _charge_lexemes(charge: Charge, ends: list[UUID], names: list[str]) -> Iterator[str]:
    """Yield what a charge is found by, what identifies it first: there is a limit."""
    yield from (end_lexeme(each.hex) for each in ends)
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


def _checkout_lexemes(checkout: Checkout) -> Iterator[str]:
    """Yield what a checkout is found by, what identifies it first."""
    yield end_lexeme(checkout.pk.hex)
    if checkout.customer_id:
        yield customer_lexeme(checkout.customer_id)
    yield amount_lexeme(major_units(checkout.amount, checkout.currency))
    number = checkout.request.number if checkout.kind == Checkout.Kind.REQUEST else None
    payer = [checkout.payer, *(checkout.order.get(f"customer_{name}") for name in ("email", "name", "phone"))]
    words_of_ours = f"{checkout.currency} {checkout.state}"
    yield from _words_in([checkout.client_reference_id, number, payer, words_of_ours, *_sold_in(checkout.order)])


def _sold_in(order: dict[str, Any]) -> list[Any]:
    """Return what an order says of what is sold, without the addresses of pages."""
    items = [[item["name"], item.get("description")] for item in order.get("line_items") or []]
    metadata = order.get("metadata") or {}
    return [order.get("description"), order.get("message"), items, metadata, *metadata]


def _words_in(texts: list[Any]) -> Iterator[str]:
    for text in texts_in(texts):
        yield from words(text)

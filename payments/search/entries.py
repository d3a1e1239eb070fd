"""The entries of charges, checkouts and payment links, made from what is stored of them, their payers and attempts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from payments.db.scoped_queryset import is_one_of
from payments.models import Attempt, Charge, Checkout, Dispute, PaymentLink, Refund, SearchEntry
from payments.models.charging.shown_states import DISPUTED, OF_CHECKOUTS, state_of
from payments.money import major_units
from payments.search.lexemes import (
    amount_lexeme,
    at_most,
    customer_lexeme,
    end_lexeme,
    last4_lexeme,
    merchant_lexeme,
    state_lexeme,
    texts_in,
    word,
    words,
)

# What a charge is found by. To fill a charge, its source and its card as instances takes longer than all else.
COLUMNS = (
    *("id", "merchant_id", "livemode", "amount", "amount_captured", "amount_refunded", "currency", "status"),
    *("authorized", "disputed", "action", "failure_data"),
    *("customer_id", "description", "metadata", "source__type", "source__owner", "source__bank_account"),
    *("source__metadata", "source__card__last4", "source__card__brand", "source__card__name", "source__card__address"),
)
# An object's ID, kind, merchant and mode, and its lexemes, each on a line.
Entry = tuple[UUID, str, UUID, bool, str]
# The entries that the objects with these IDs have now; an object without one is not found any more.
Maker = Callable[[Sequence[UUID]], Iterable[Entry]]


def charge_entries(ids: Sequence[UUID]) -> Iterator[Entry]:
    """Yield the entries of these charges."""
    named: dict[UUID, list[str]] = {}
    ends: dict[UUID, list[UUID]] = {charge_id: [charge_id] for charge_id in ids}
    for about in (Refund, Dispute):
        for charge_id, own_id in about._default_manager.filter(is_one_of("charge", ids)).values_list("charge_id", "pk"):
            ends[charge_id].append(own_id)
    for charge_id, *names in Attempt.objects.filter(is_one_of("charge", ids)).values_list(
        "charge_id", "provider_ref", "idempotency_key", "response__acquirerReference"
    ):
        named.setdefault(charge_id, []).extend(str(name) for name in names if name)
    for charge in Charge.objects.filter(is_one_of("id", ids)).values_list(*COLUMNS, named=True):
        lexemes = at_most(_charge_lexemes(charge, ends[charge.id], named.get(charge.id, [])))
        yield entry(SearchEntry.Kind.CHARGE, charge, lexemes)


def checkout_entries(ids: Sequence[UUID]) -> Iterator[Entry]:
    """Yield the entries of the sessions and requests among these checkouts."""
    found = Checkout.objects.filter(pk__in=ids).exclude(kind=Checkout.Kind.LINK).select_related("request")
    for checkout in found:
        yield entry(SearchEntry.Kind.CHECKOUT, checkout, at_most(_checkout_lexemes(checkout)))


def link_entries(ids: Sequence[UUID]) -> Iterator[Entry]:
    """Yield the entries of these payment links."""
    for link in PaymentLink.objects.filter(pk__in=ids):
        lexemes = [end_lexeme(link.pk.hex), *_words_in([link.internal_name, *_sold_in(link.order)])]
        yield entry(SearchEntry.Kind.LINK, link, at_most(lexemes))


def entry(kind: SearchEntry.Kind, row: Any, lexemes: list[str]) -> Entry:
    """Return the entry of an object."""
    found_by = "\n".join([*lexemes, merchant_lexeme(row.merchant_id)])
    return row.id, kind.value, row.merchant_id, row.livemode, found_by


def _charge_lexemes(charge: Any, ends: list[UUID], names: list[str]) -> Iterator[str]:
    """Yield what a charge is found by, what identifies it first: there is a limit."""
    yield from (end_lexeme(each.hex) for each in ends)
    yield state_lexeme(state_of(charge).name)
    if charge.disputed:
        yield state_lexeme(DISPUTED.name)
    if charge.customer_id:
        yield customer_lexeme(charge.customer_id)
    for amount in (charge.amount, charge.amount_captured, charge.amount_refunded):
        if amount:
            yield amount_lexeme(major_units(amount, charge.currency))
    if charge.source__card__last4 is not None:
        yield last4_lexeme(charge.source__card__last4)
        yield from words(f"{charge.source__card__brand} {charge.source__card__name}")
    yield from filter(None, map(word, names))
    yield from words(f"{charge.currency} {charge.source__type} {charge.description}")
    metadata = charge.metadata or {}, charge.source__metadata or {}
    account_name = (charge.source__bank_account or {}).get("account_name")
    yield from _words_in([charge.source__owner, account_name, *metadata, *map(list, metadata)])
    yield from _words_in([charge.source__card__address])


def _checkout_lexemes(checkout: Checkout) -> Iterator[str]:
    """Yield what a checkout is found by, what identifies it first."""
    yield end_lexeme(checkout.pk.hex)
    if checkout.customer_id:
        yield customer_lexeme(checkout.customer_id)
    yield amount_lexeme(major_units(checkout.amount, checkout.currency))
    number = checkout.request.number if checkout.kind == Checkout.Kind.REQUEST else None
    payer = [checkout.payer, *(checkout.order.get(f"customer_{name}") for name in ("email", "name", "phone"))]
    yield state_lexeme(OF_CHECKOUTS[checkout.state].name)
    yield from _words_in([checkout.client_reference_id, number, payer, checkout.currency, *_sold_in(checkout.order)])


def _sold_in(order: dict[str, Any]) -> list[Any]:
    """Return what an order says of what is sold, without the addresses of pages."""
    items = [[item["name"], item.get("description")] for item in order.get("line_items") or []]
    metadata = order.get("metadata") or {}
    return [order.get("description"), order.get("message"), items, metadata, *metadata]


def _words_in(texts: list[Any]) -> Iterator[str]:
    for text in texts_in(texts):
        yield from words(text)

"""Cards: the facts in their numbers, and the only place where a number is encrypted and decrypted."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from payments import clock, ids
from payments.models import BinRange, Card, Source
from payments.providers.base import CardData
from payments.vault import KeyDestroyed, Place, Purpose, VaultError, card_fingerprint, seal, unseal

UNKNOWN = "unknown"
BRANDS = ("visa", "mastercard", "jcb", "amex", "unionpay", UNKNOWN)
FUNDINGS = ("credit", "debit", "prepaid", UNKNOWN)
# How many first digits an entry of the BIN table may have.
PREFIX_LENGTHS = range(4, 12)
# How many first digits a statement may hold, which a database may log (PCI DSS 3.5.1: truncated to these and four).
SHOWN_DIGITS = 8
# The encrypted fields of a card, as the vault names them.
FIELDS = {Purpose.CARD: "number", Purpose.CVC: "cvc"}


# The columns of the BIN table that a card has too.
FACTS = ("brand", "funding", "country", "issuing_bank")
# The facts of the contract's test cards; no bank issues these.
TEST_CARDS = {
    "400000000000": ("visa", "credit", "US", "Test Bank"),
    "401200103714": ("visa", "credit", "US", "Test Bank"),
    "424242424242": ("visa", "credit", "US", "Test Bank"),
    "555555555555": ("mastercard", "credit", "US", "Test Bank"),
    "356600202036": ("jcb", "credit", "JP", "Test Bank"),
}
# First and last of the first four digits that each scheme may issue (ISO/IEC 7812).
BRAND_RANGES = (
    ("2221", "2720", "mastercard"),
    ("3400", "3499", "amex"),
    ("3528", "3589", "jcb"),
    ("3700", "3799", "amex"),
    ("4000", "4999", "visa"),
    ("5100", "5599", "mastercard"),
    ("6200", "6299", "unionpay"),
)


def describe(number: str) -> BinRange:
    """Return the BIN table's longest entry that matches `number`, else one of built-in facts. One query."""
    shorter = [number[:length] for length in PREFIX_LENGTHS if length < SHOWN_DIGITS]
    entries = BinRange.objects.filter(Q(prefix__in=shorter) | Q(prefix__startswith=number[:SHOWN_DIGITS]))
    matches = [entry for entry in entries if number.startswith(entry.prefix)]
    if matches:
        return max(matches, key=lambda entry: len(entry.prefix))
    brand = next((brand for first, last, brand in BRAND_RANGES if first <= number[:4] <= last), UNKNOWN)
    facts = TEST_CARDS.get(number[:12]) or (brand, UNKNOWN, UNKNOWN, UNKNOWN)
    return BinRange(**dict(zip(FACTS, facts, strict=True)))


def new_card(source: Source, card: dict[str, Any]) -> Card:
    """Return the unsaved card of `source` from the API's `card`, with number and CVC encrypted.

    The source needs only its ID and merchant. One query, of the BIN table. Raise VaultUnavailable.
    """
    card_id, moment, facts = ids.new_id(), clock.now(), describe(card["number"])
    return Card(
        id=card_id,
        source=source,
        name=card["name"],
        last4=card["number"][-4:],
        exp_month=card["exp_month"],
        exp_year=card["exp_year"],
        address={name: value for name, value in card.items() if name.startswith("address_")},
        fingerprint=card_fingerprint(card["number"]),
        sealed_number=seal(card["number"], _place(Purpose.CARD, source, card_id)),
        number_expires_at=moment + timedelta(days=settings.UNUSED_CARD_KEEP_DAYS),
        sealed_cvc=seal(card["cvc"], _place(Purpose.CVC, source, card_id)),
        cvc_expires_at=moment + timedelta(minutes=settings.CVC_KEEP_MINUTES),
        **{name: getattr(facts, name) for name in FACTS},
    )


def card_data(card: Card, cvc: str | None = None) -> CardData:
    """Return the card as the payer typed it, for a provider; `cvc` replaces the stored one, which may be destroyed.

    Raise VaultError where the number was destroyed or cannot be decrypted, and VaultUnavailable.
    """
    if card.sealed_number is None:
        raise VaultError("The card data was destroyed.")
    return CardData(
        number=unseal(card.sealed_number, _place(Purpose.CARD, card.source, card.id)),
        exp_month=card.exp_month,
        exp_year=card.exp_year,
        name=card.name,
        cvc=cvc or _kept_cvc(card),
    )


def _kept_cvc(card: Card) -> str | None:
    is_over = card.cvc_expires_at is None or card.cvc_expires_at <= clock.now()
    if card.sealed_cvc is None or is_over:
        return None
    try:
        return unseal(card.sealed_cvc, _place(Purpose.CVC, card.source, card.id))
    except KeyDestroyed:
        # A crash of the database takes these keys with it: then it is as if no CVC had been given.
        return None


def _place(purpose: Purpose, source: Source, card_id: UUID) -> Place:
    return Place(purpose, source.merchant_id, card_id, FIELDS[purpose])

"""Cards: what their numbers tell, and the only way from a number to a sealed row and back."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings

from payments import clock, ids
from payments.models import BinRange, Card, Source
from payments.providers.base import CardData
from payments.vault import VaultError, card_fingerprint, seal, unseal

UNKNOWN = "unknown"
BRANDS = ("visa", "mastercard", "jcb", "amex", "unionpay", UNKNOWN)
FUNDINGS = ("credit", "debit", "prepaid", UNKNOWN)
# How many first digits an entry of the BIN table may have.
PREFIX_LENGTHS = range(4, 12)


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What the first digits of a card number tell, each `unknown` where they do not."""

    brand: str = UNKNOWN
    funding: str = UNKNOWN
    country: str = UNKNOWN
    issuing_bank: str = UNKNOWN


# The test cards of the contract; no bank issues these.
TEST_CARDS = {
    "400000000000": CardFacts("visa", "credit", "US", "Test Bank"),
    "401200103714": CardFacts("visa", "credit", "US", "Test Bank"),
    "424242424242": CardFacts("visa", "credit", "US", "Test Bank"),
    "555555555555": CardFacts("mastercard", "credit", "US", "Test Bank"),
    "356600202036": CardFacts("jcb", "credit", "JP", "Test Bank"),
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


def describe(number: str) -> CardFacts:
    """What the BIN table's longest matching entry tells of `number`, else the built-in one. One query."""
    prefixes = [number[:length] for length in PREFIX_LENGTHS]
    matches = BinRange.objects.filter(prefix__in=prefixes)
    longest = max(matches, key=lambda entry: len(entry.prefix), default=None)
    if longest is None:
        return TEST_CARDS.get(number[:12]) or CardFacts(brand=_brand_by_range(number))
    return CardFacts(longest.brand, longest.funding, longest.country, longest.issuing_bank)


def new_card(source: Source, card: dict[str, Any]) -> Card:
    """The unsaved row of `source` for a card as the API takes it: number and CVC sealed, the expiry as given.

    The source needs only its ID and merchant. Reads the BIN table.
    """
    card_id = ids.new_id()
    place = {"merchant_id": source.merchant_id, "object_id": card_id}
    return Card(
        id=card_id,
        source=source,
        name=card["name"],
        last4=card["number"][-4:],
        exp_month=card["exp_month"],
        exp_year=card["exp_year"],
        address={name: value for name, value in card.items() if name.startswith("address_")},
        fingerprint=card_fingerprint(card["number"]),
        sealed_number=seal(card["number"], field="number", **place),
        sealed_cvc=seal(card["cvc"], field="cvc", **place),
        cvc_expires_at=clock.now() + timedelta(minutes=settings.CVC_KEEP_MINUTES),
        **asdict(describe(card["number"])),
    )


def card_data(card: Card, cvc: str | None = None) -> CardData:
    """The card as the payer typed it, for a provider, with `cvc` before the sealed one, which may be gone.

    Raises VaultError where the number was destroyed, or does not open.
    """
    if card.sealed_number is None:
        raise VaultError("The card data was destroyed.")
    return CardData(
        number=_unseal(card, "number", card.sealed_number),
        exp_month=card.exp_month,
        exp_year=card.exp_year,
        name=card.name,
        cvc=cvc or _kept_cvc(card),
    )


def _kept_cvc(card: Card) -> str | None:
    is_over = card.cvc_expires_at is None or card.cvc_expires_at <= clock.now()
    return None if card.sealed_cvc is None or is_over else _unseal(card, "cvc", card.sealed_cvc)


def _unseal(card: Card, field: str, sealed: bytes | memoryview) -> str:
    return unseal(sealed, merchant_id=card.source.merchant_id, object_id=card.id, field=field)


def _brand_by_range(number: str) -> str:
    return next((brand for first, last, brand in BRAND_RANGES if first <= number[:4] <= last), UNKNOWN)

"""Card data: the only place where a number is encrypted and decrypted."""

from datetime import MAXYEAR, UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from payments import clock, ids
from payments.domain.cards.bin_table import FACTS, describe
from payments.models import Card, Source
from payments.providers.base import CardData
from payments.vault import KeyDestroyed, Place, Purpose, VaultError, card_fingerprint, seal, unseal

# How long before a kept card expires its merchant gets an event.
EXPIRING_BEFORE = timedelta(days=30)
BIN_LENGTH = 6
# The encrypted fields of a card, as the vault names them.
FIELDS = {Purpose.CARD: "number", Purpose.CVC: "cvc"}


def new_card(source: Source, card: dict[str, Any]) -> Card:
    """Return the unsaved card of `source` from the API's `card`, with number and CVC encrypted.

    The source needs only its ID and merchant. A card from elsewhere has no CVC. One query at most, of the BIN table.
    Raise VaultUnavailable.
    """
    card_id, moment, facts, cvc = ids.new_id(), clock.now(), describe(card["number"]), card.get("cvc")
    return Card(
        id=card_id,
        merchant_id=source.merchant_id,
        source=source,
        name=card["name"],
        bin=card["number"][:BIN_LENGTH],
        last4=card["number"][-4:],
        exp_month=card["exp_month"],
        exp_year=card["exp_year"],
        address={name: value for name, value in card.items() if name.startswith("address_")},
        fingerprint=card_fingerprint(card["number"]),
        sealed_number=seal(card["number"], _place(Purpose.CARD, source, card_id)),
        number_expires_at=moment + timedelta(days=settings.UNUSED_CARD_KEEP_DAYS),
        sealed_cvc=seal(cvc, _place(Purpose.CVC, source, card_id)) if cvc else None,
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


def expiring_at(card: Card) -> datetime | None:
    """Return when the expiry of a kept card is announced: 30 days before its last month (UTC) ends."""
    year, month = int(card.exp_year), int(card.exp_month)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC) if year < MAXYEAR else None
    return end - EXPIRING_BEFORE if end else None

"""Protection against card testing: after too many declines, nothing is charged for the rest of the window.

Declines are counted by card, address, key and merchant. All counts are of one merchant in one mode, so that a refusal
shows nothing about another merchant.
"""

import logging
from typing import Any

from django.conf import settings
from django.db import Error

from payments.db.writes import insert_if_absent
from payments.domain.risk.decline_limits import Kind, Quotas, present_window, quotas
from payments.domain.shared.caller import Caller, merchant_of
from payments.domain.shared.errors import rate_limited
from payments.ids import parse_id, public_id
from payments.models import Card, Charge, DeclineAlert, Source
from payments.providers.base import Declined, Outcome
from payments.providers.failure_data import NOT_REACHED
from payments.redis_client.rate_counters import READ, Window, counters_at
from payments.vault import card_fingerprint

logger = logging.getLogger("kaha.declines")

# These do not show whether a card is good: the provider's own faults, and payers who leave.
NOT_ABOUT_THE_CARD = {"processing_error", NOT_REACHED, "payer_cancelled", "action_expired"}


def refuse_card_testing(caller: Caller, source: str | dict[str, Any]) -> None:
    """Raise PaymentError where too many charges of the caller, or of `source`'s card, were declined in this window.

    While no limit of the merchant is reached, this costs one read of Redis and none of the database.
    """
    counters, window = counters_at(settings.REDIS_URL), present_window()
    if not counters.read(window.key(_limit_reached(caller))):
        return
    limits = quotas(caller.livemode, merchant_of(caller).decline_budget)
    counted = _counted(caller, _fingerprint(caller, source))
    sums = counters.count(*((window.key(name), READ) for name in counted.values()))
    if any(declined >= limits[kind] for kind, declined in zip(counted, sums, strict=True)):
        raise rate_limited(window.ends_in_seconds)


def count(caller: Caller, source: Source, outcome: Outcome, charge: Charge | None = None) -> None:
    """Count `outcome` if it is a decline of the card of `source`, and alert operators where it reaches a limit.

    It is that of a `charge`, or of a check. It is recorded already, so a database error here is only logged. Tries of a
    kept card that has paid before show nobody whether it is good: many on one day must not stop the merchant's payers.
    """
    card: Card | None = getattr(source, "card", None)
    if card is None or not isinstance(outcome, Declined) or outcome.code in NOT_ABOUT_THE_CARD:
        return
    if charge and charge.checkout_id and charge.initiator == Charge.Initiator.MERCHANT and card.checked_at:
        return
    counters, window = counters_at(settings.REDIS_URL), present_window()
    counted = _counted(caller, bytes(card.fingerprint))
    sums = counters.count(*((window.key(name), window.seconds) for name in counted.values()))
    used = dict(zip(counted, sums, strict=True))
    try:
        _alert_if_over(caller, source, charge, used, window)
    except Error:
        logger.exception("declines could not be compared with their limits")


def _alert_if_over(caller: Caller, source: Source, charge: Charge | None, used: Quotas, window: Window) -> None:
    limits = quotas(caller.livemode, merchant_of(caller).decline_budget)
    for kind in (kind for kind in used if used[kind] >= limits[kind]):
        counters_at(settings.REDIS_URL).increment(window.key(_limit_reached(caller)), window.seconds)
        logger.warning(
            "too many declines", extra={"merchant": public_id("mer", caller.merchant_id), "kind": kind.value}
        )
        alert = DeclineAlert(
            merchant_id=caller.merchant_id,
            livemode=caller.livemode,
            kind=kind,
            subject=_subject(caller, source, kind),
            quota=limits[kind],
            source=source,
            charge=charge,
            window_starts_at=window.starts_at,
            window_ends_at=window.ends_at,
        )
        insert_if_absent(alert)


def _counted(caller: Caller, fingerprint: bytes | None) -> dict[Kind, str]:
    """Return the names of the counters for the caller, and for the card if there is one."""
    subjects = {
        Kind.CARD: fingerprint.hex() if fingerprint else "",
        Kind.ADDRESS: caller.request.address,
        Kind.KEY: caller.key_id.hex if caller.key_id else "",
        Kind.MERCHANT: "all",
    }
    return {kind: f"{_prefix(caller)}/{kind}/{subject}" for kind, subject in subjects.items() if subject}


def _limit_reached(caller: Caller) -> str:
    return f"{_prefix(caller)}/over"


def _prefix(caller: Caller) -> str:
    return f"declines/{caller.merchant_id.hex}/{'live' if caller.livemode else 'test'}"


def _fingerprint(caller: Caller, source: str | dict[str, Any]) -> bytes | None:
    """Return the fingerprint of the card in the caller's source of this public ID, or order, if it has one."""
    if not isinstance(source, str):
        return card_fingerprint(source["card"]["number"]) if "card" in source else None
    uuid = parse_id("src", source)
    if uuid is None:
        return None
    rows = Source.objects.of(caller.merchant_id, caller.livemode).filter(id=uuid)
    found = rows.values_list("card__fingerprint", flat=True).first()
    return bytes(found) if found else None


def _subject(caller: Caller, source: Source, kind: Kind) -> str:
    if kind is Kind.CARD:
        return str(source.card)
    if kind is Kind.KEY and caller.key_id:
        return public_id("key", caller.key_id)
    return caller.request.address if kind is Kind.ADDRESS else ""

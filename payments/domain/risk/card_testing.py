"""Whoever tries stolen cards is known by the declines: too many of them, and nothing more is charged for a while.

Declines are counted by card, address, key and merchant; all counts are of one merchant in one mode, lest anybody
learn from a refusal what goes on at somebody else's.
"""

import logging

from django.conf import settings
from django.db import Error

from payments.counting import READ, Window, counters_at
from payments.db.writes import insert_if_absent
from payments.domain.caller import Caller
from payments.domain.errors import rate_limited
from payments.domain.risk.decline_limits import Kind, Quotas, present_window, quotas
from payments.ids import parse_id, public_id
from payments.models import Card, Charge, DeclineAlert, Merchant, Source
from payments.providers.base import Declined, Outcome

logger = logging.getLogger("kaha.declines")

# Nobody learns from these whether a card is good: the provider's own faults, and payers who leave.
TELLS_NOTHING = {"processing_error", "provider_unavailable", "payer_cancelled", "action_expired"}


def refuse_card_testing(caller: Caller, source: str) -> None:
    """Raise PaymentError where too many charges of `source`'s card or of the caller were declined of late.

    As long as nothing of the merchant's is over a limit, this takes one look at Redis and none at the database.
    """
    counters, window = counters_at(settings.REDIS_URL), present_window()
    if not counters.read(window.key(_any_over(caller))):
        return
    borne = quotas(caller.livemode, caller.decline_budget)
    counted = _counted(caller, _fingerprint(caller, source))
    sums = counters.count(*((window.key(name), READ) for name in counted.values()))
    if any(declined >= borne[kind] for kind, declined in zip(counted, sums, strict=True)):
        raise rate_limited(window.ends_in_seconds)


def count(caller: Caller, charge: Charge, outcome: Outcome) -> None:
    """Counts `outcome` of `charge` if it is a card's decline, and alerts operators where a limit is reached by it.

    The charge is on record, so nothing that goes wrong here fails it any more.
    """
    card: Card | None = getattr(charge.source, "card", None)
    if card is None or not isinstance(outcome, Declined) or outcome.code in TELLS_NOTHING:
        return
    counters, window = counters_at(settings.REDIS_URL), present_window()
    counted = _counted(caller, bytes(card.fingerprint))
    sums = counters.count(*((window.key(name), window.seconds) for name in counted.values()))
    used = dict(zip(counted, sums, strict=True))
    try:
        _judge(caller, charge, used, window)
    except Error:
        logger.exception("declines could not be held against their limits")


def _judge(caller: Caller, charge: Charge, used: Quotas, window: Window) -> None:
    borne = quotas(caller.livemode, _budget(caller))
    for kind in (kind for kind in used if used[kind] >= borne[kind]):
        counters_at(settings.REDIS_URL).increment(window.key(_any_over(caller)), window.seconds)
        logger.warning(
            "too many declines", extra={"merchant": public_id("mer", caller.merchant_id), "kind": kind.value}
        )
        insert_if_absent(_alert(caller, charge, kind, borne[kind], window))


def _counted(caller: Caller, fingerprint: bytes | None) -> dict[Kind, str]:
    """The names under which declines of the caller, and of the card if there is one, are counted."""
    key = caller.key_id.hex if caller.key_id else ""
    known = {
        Kind.CARD: fingerprint.hex() if fingerprint else "",
        Kind.ADDRESS: caller.address,
        Kind.KEY: key,
        Kind.MERCHANT: "all",
    }
    return {kind: f"{_place(caller)}/{kind}/{who}" for kind, who in known.items() if who}


def _any_over(caller: Caller) -> str:
    """The name of what is counted whenever a limit is reached."""
    return f"{_place(caller)}/over"


def _place(caller: Caller) -> str:
    return f"declines/{caller.merchant_id.hex}/{'live' if caller.livemode else 'test'}"


def _fingerprint(caller: Caller, source: str) -> bytes | None:
    """That of the card in the caller's source of this public ID, if it has one."""
    uuid = parse_id("src", source)
    if uuid is None:
        return None
    rows = Source.objects.of(caller.merchant_id, caller.livemode).filter(id=uuid)
    found = rows.values_list("card__fingerprint", flat=True).first()
    return bytes(found) if found else None


def _budget(caller: Caller) -> int | None:
    """The merchant's own; nobody has looked it up yet where no key made the request."""
    if caller.key_id:
        return caller.decline_budget
    return Merchant.objects.values_list("decline_budget", flat=True).get(id=caller.merchant_id)


def _alert(caller: Caller, charge: Charge, kind: Kind, quota: int, window: Window) -> DeclineAlert:
    return DeclineAlert(
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        kind=kind,
        subject=_subject(caller, charge, kind),
        quota=quota,
        charge=charge,
        window_starts_at=window.starts_at,
        window_ends_at=window.ends_at,
    )


def _subject(caller: Caller, charge: Charge, kind: Kind) -> str:
    if kind is Kind.CARD:
        return str(charge.source.card)
    if kind is Kind.KEY and caller.key_id:
        return public_id("key", caller.key_id)
    return caller.address if kind is Kind.ADDRESS else ""

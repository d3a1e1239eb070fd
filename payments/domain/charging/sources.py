"""Sources: made once, used once, or vaulted and used again."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.conf import settings

from payments import clock, sourcetypes
from payments.db.compiled_query import Frozen
from payments.db.writes import Insert, Require, Update, Write
from payments.domain import events, idempotency, prepared_reads
from payments.domain.caller import Caller
from payments.domain.cards import card_data
from payments.domain.errors import conflict, invalid, not_found
from payments.domain.idempotency import Result, StoredAnswer
from payments.domain.merchants import terms
from payments.domain.routing import candidates
from payments.ids import parse_id, public_id
from payments.models import Card, Charge, Source


def create(caller: Caller, order: dict[str, Any], render: Callable[[Source], StoredAnswer]) -> Result[Source]:
    """Make a source of a validated request body (`type`, `card`, `redirect`, `owner`, `metadata`).

    `render` makes the answer that is stored with it. Raise PaymentError `source_type_unavailable` when the merchant has
    this type switched off, or nobody takes it in this mode; VaultUnavailable, with nothing written, when a card cannot
    be sealed.
    """
    label = sourcetypes.BY_NAME[order["type"]].label
    if not terms.is_enabled(caller.payment_methods, order["type"], caller.livemode):
        raise invalid("source_type_unavailable", "type", f"{label} is switched off for this account.")
    if not candidates.is_available(caller.merchant_id, caller.livemode, order["type"]):
        raise invalid("source_type_unavailable", "type", f"{label} is not available in this mode.")
    source = Source(
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        type=order["type"],
        redirect=order.get("redirect"),
        owner=order.get("owner"),
        metadata=order.get("metadata"),
        created_at=(moment := clock.now()),
        updated_at=moment,
    )
    writes: list[Write] = [Insert(source)]
    if "card" in order:
        writes.append(Insert(card_data.new_card(source, order["card"])))
    answer = render(source)
    created = events.of_source(caller, "source.created", source)
    idempotency.write_once(caller, idempotency.new_record(caller, answer), *writes, created)
    return Result(source, answer)


def find(caller: Caller, text: str, param: str | None = None) -> Source:
    """The caller's source of this public ID, card at hand. Raises PaymentError `resource_missing`."""
    return _one(prepared_reads.source, caller, text, param)


def find_chargeable(caller: Caller, text: str) -> Source:
    """The source as `find` does, if it is unused or vaulted; `take` has the database hold it to that.

    It knows the block that is in force on it, if there is one: one that is put there later counts from the next charge
    on. Raises PaymentError `resource_missing`, `source_already_used`, `source_expired`, and Replay.
    """
    source = _one(prepared_reads.source_to_charge, caller, text, "source", now=clock.now())
    if source.used and not source.vaulted:
        # Who sends a charge again comes here, and is answered by the key without a search for that charge.
        idempotency.look_up(caller)
        raise already_used(source.id)
    _require_number(source)
    return source


def _one(read: Frozen[..., Source], caller: Caller, text: str, param: str | None, **given: Any) -> Source:
    uuid, owner = parse_id("src", text), {"merchant_id": caller.merchant_id, "livemode": caller.livemode}
    source = read.first(**owner, source_id=uuid, **given) if uuid else None
    if source is None:
        raise not_found("source", param)
    return source


def already_used(source_id: UUID) -> Exception:
    """The refusal of a source that is used up, naming the charge that took it if one did."""
    charge_id = Charge.objects.filter(source_id=source_id).values_list("id", flat=True).first()
    message = "This source has been used already. Create a new one for each charge."
    return conflict("source_already_used", message, public_id("ch", charge_id) if charge_id else None, "source")


def _require_number(source: Source) -> None:
    """Raise PaymentError `source_expired` for a card whose number is destroyed, because nobody used it for so long."""
    card: Card | None = getattr(source, "card", None)
    if card and card.sealed_number is None:
        message = f"This source was not used within {settings.UNUSED_CARD_KEEP_DAYS} days. Create a new one."
        raise conflict("source_expired", message, param="source")


def take(caller: Caller, source: Source) -> list[Write]:
    """The writes by which a charge uses the source in hand; a vaulted one stays as it is, but must be kept still."""
    if source.vaulted:
        return [Require(Source, {"id": source.id, "vaulted": True})]
    return _change(caller, source, "source.updated", {"used": False}, used=True)


def vault(caller: Caller, source: Source, customer_id: UUID) -> list[Write]:
    """The writes by which an unused source is kept for a customer. Raises PaymentError where it is used or expired.

    The CVC is destroyed: no standard lets one be kept for later charges (PCI DSS 3.3.1).
    """
    if source.used:
        raise already_used(source.id)
    _require_number(source)
    changes = {"used": True, "vaulted": True, "customer_id": customer_id}
    writes = _change(caller, source, "source.updated", {"used": False}, **changes)
    return [*writes, *_card_writes(source, number_expires_at=None, sealed_cvc=None, cvc_expires_at=None)]


def unvault(caller: Caller, source: Source) -> list[Write]:
    """The writes by which a vaulted source is given up and its card data destroyed."""
    writes = _change(caller, source, "source.deleted", {"vaulted": True}, vaulted=False)
    return [*writes, *_card_writes(source, sealed_number=None, sealed_cvc=None, cvc_expires_at=None)]


def _change(caller: Caller, source: Source, event: str, guard: dict[str, Any], **changes: Any) -> list[Write]:
    in_hand = {"id": source.id, "version": source.version, **guard}
    values = changes | {"version": source.version + 1, "updated_at": clock.now()}
    for name, value in values.items():
        setattr(source, name, value)
    return [Update(Source, in_hand, values), events.of_source(caller, event, source)]


def _card_writes(source: Source, **changes: Any) -> list[Write]:
    card: Card | None = getattr(source, "card", None)
    return [Update(Card, {"id": card.id}, changes)] if card else []

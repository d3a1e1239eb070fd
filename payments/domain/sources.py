"""Sources: created once, and charged once, or vaulted for a customer and charged again."""

from collections.abc import Callable
from datetime import UTC
from typing import Any
from uuid import UUID

from django.conf import settings

from payments import clock, sourcetypes
from payments.db.compiled_query import CompiledQuery
from payments.db.writes import Insert, LockShared, Update, Write, execute_writes
from payments.domain import prepared_reads
from payments.domain.cards import card_data
from payments.domain.cards.card_data import expiring_at
from payments.domain.catalogue import error_table as errors
from payments.domain.catalogue.event_types import SOURCE_CREATED, SOURCE_DELETED, SOURCE_EXPIRING, SOURCE_UPDATED
from payments.domain.merchants import terms
from payments.domain.risk.blocks import emails_of_owner
from payments.domain.routing import candidates
from payments.domain.shared import events, idempotency
from payments.domain.shared.caller import Caller, merchant_of
from payments.domain.shared.errors import conflict, invalid, not_found
from payments.domain.shared.idempotency import Result, StoredAnswer
from payments.ids import parse_id, public_id
from payments.models import Card, Charge, Checkout, Source


def create(caller: Caller, order: dict[str, Any], render: Callable[[Source], StoredAnswer]) -> Result[Source]:
    """Create a source from a validated request body (`type`, `card`, `redirect`, `owner`, `metadata`).

    `render` makes the answer that is stored with it. Raise PaymentError `source_type_unavailable` when the merchant has
    switched this type off, or no provider takes it in this mode. Raise VaultUnavailable, with nothing written, when a
    card cannot be encrypted.
    """
    source, writes = _new(caller, order)
    answer = render(source)
    idempotency.write_once(caller, idempotency.new_record(caller, answer), *writes)
    return Result(source, answer)


def _new(caller: Caller, order: dict[str, Any]) -> tuple[Source, list[Write]]:
    """Return a new source and the writes that insert it, with its event. Raise as `create` does."""
    label = sourcetypes.BY_NAME[order["type"]].label
    if not terms.is_enabled(merchant_of(caller).payment_method_settings, order["type"], caller.livemode):
        raise invalid(errors.SOURCE_TYPE_UNAVAILABLE, "type", f"{label} is switched off for this account.")
    if not candidates.is_available(caller.merchant_id, caller.livemode, order["type"]):
        message = f"{label} is not available in this mode. {candidates.how_to_enable(caller.livemode)}"
        raise invalid(errors.SOURCE_TYPE_UNAVAILABLE, "type", message)
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
    return source, [*writes, *events.of(caller, SOURCE_CREATED, source)]


def find(caller: Caller, text: str, param: str | None = None) -> Source:
    """Return the caller's source of this public ID with its card. Raise PaymentError `resource_missing`."""
    return _one(prepared_reads.source, caller, text, param)


def take(caller: Caller, given: str | dict[str, Any]) -> tuple[Source, list[Write]]:
    """Return the source to be charged, found by its public ID or made of an order, and the writes that use it.

    Its `block_id` names the block in force on its charge, if there is one. A block that is added later counts from
    the next charge on. Raise as `find_chargeable` and `create` do.
    """
    if isinstance(given, str):
        source = find_chargeable(caller, given)
        return source, use(caller, source)
    source, made = _new(caller, given)
    card: Card | None = getattr(source, "card", None)
    billing, shipping = emails_of_owner(source)
    block = prepared_reads.block_of_payer.first(
        merchant_id=caller.merchant_id,
        livemode=caller.livemode,
        fingerprint=bytes(card.fingerprint) if card else b"",
        bin_digits=card.bin if card else "",
        billing=billing,
        shipping=shipping,
        address=caller.request.address,
        now=clock.now(),
    )
    source.block_id = block.id if block else None  # type: ignore[attr-defined] # as `find_chargeable` sets it
    # It is inserted as it is after its use.
    _update, *used = use(caller, source)
    return source, [*made, *used]


def find_chargeable(caller: Caller, text: str) -> Source:
    """Return the source as `find` does, if it is unused or vaulted; the write of `use` guards that.

    Raise PaymentError `resource_missing`, `source_already_used`, `source_expired`, `retry_not_allowed`, and Replay.
    """
    source = _one(
        prepared_reads.source_to_charge, caller, text, "source", address=caller.request.address, now=clock.now()
    )
    if source.used and not source.vaulted:
        # A charge that is sent again comes here: its key has the answer, without a search for that charge.
        idempotency.look_up(caller)
        raise already_used(source.id)
    _require_number(source)
    _require_unrefused(caller, source)
    return source


def _one(read: CompiledQuery[..., Source], caller: Caller, text: str, param: str | None, **given: Any) -> Source:
    uuid, owner = parse_id("src", text), {"merchant_id": caller.merchant_id, "livemode": caller.livemode}
    source = read.first(**owner, source_id=uuid, **given) if uuid else None
    if source is None:
        raise not_found("source", param, text)
    return source


def already_used(source_id: UUID) -> Exception:
    """Return the refusal of a used source, which names the charge that used it if there is one."""
    rows = Charge.objects.filter(source_id=source_id).values_list("id", "checkout_id")
    charge_id, checkout_id = rows.first() or (None, None)
    message = ""
    if checkout_id:
        message = "A checkout session has used this source. To keep the payer's card, use the mode `subscription`."
    return conflict(errors.SOURCE_ALREADY_USED, message, public_id("ch", charge_id) if charge_id else None, "source")


def _require_number(source: Source) -> None:
    """Raise PaymentError `source_expired` for a card whose number was destroyed because it was not used in time."""
    card: Card | None = getattr(source, "card", None)
    if card and card.sealed_number is None:
        raise conflict(errors.SOURCE_EXPIRED, param="source", days=settings.UNUSED_CARD_KEEP_DAYS)


def _require_unrefused(caller: Caller, source: Source) -> None:
    """Raise PaymentError `retry_not_allowed` for a kept card whose issuer said, by any source, that it is never
    approved.
    """
    if source.vaulted and (until := source.refused_until):  # type: ignore[attr-defined] # put there by the read
        # A charge that is sent again comes here too.
        idempotency.look_up(caller)
        raise conflict(errors.RETRY_NOT_ALLOWED, param="source", day=until.astimezone(UTC).date())


def use(caller: Caller, source: Source) -> list[Write]:
    """Return the writes by which a charge uses the source.

    A vaulted one stays unchanged. It must still be vaulted, and not refused by its issuer meanwhile.
    """
    if source.vaulted:
        kept: list[Write] = [LockShared(Source, {"id": source.id, "merchant_id": source.merchant_id, "vaulted": True})]
        if card := getattr(source, "card", None):
            unrefused = {"id": card.id, "merchant_id": card.merchant_id, "refused_until": card.refused_until}
            kept.append(LockShared(Card, unrefused))
        return kept
    return _change(caller, source, SOURCE_UPDATED, {"used": False}, used=True)


def vault(caller: Caller, source: Source, customer_id: UUID, consent: dict[str, Any] | None = None) -> list[Write]:
    """Return the writes that vault an unused source for a customer. Raise PaymentError where it is used or expired.

    The CVC is destroyed: it must not be stored after authorization (PCI DSS 3.3.1).
    """
    if source.used:
        raise already_used(source.id)
    _require_number(source)
    changes = {"used": True, "vaulted": True, "customer_id": customer_id, "consent": consent}
    writes = _change(caller, source, SOURCE_UPDATED, {"used": False}, **changes)
    return [*writes, *(_card_writes(source, **kept_card(source.card)) if hasattr(source, "card") else [])]


def kept_card(card: Card) -> dict[str, Any]:
    """Return the columns of a card that is kept: its number stays, its CVC does not, and its expiry is announced."""
    kept = {"number_expires_at": None, "sealed_cvc": None, "cvc_expires_at": None}
    return kept | {"expiring_at": expiring_at(card)}


def vault_used(caller: Caller, source: Source, customer_id: UUID) -> list[Write]:
    """Return the writes that vault a source whose charge has left its number; its CVC is destroyed by then."""
    unkept = {"used": True, "vaulted": False}
    return _change(caller, source, SOURCE_UPDATED, unkept, vaulted=True, customer_id=customer_id)


def release(caller: Caller, source: Source, **of_card: Any) -> list[Write]:
    """Return the writes that give up the use of a source, whose card is not kept after its check and is destroyed.

    They set the columns `of_card` too.
    """
    writes = _change(caller, source, SOURCE_UPDATED, {"used": True, "vaulted": False}, used=False)
    destroyed = {"sealed_number": None, "number_expires_at": None, "sealed_cvc": None, "cvc_expires_at": None}
    return [*writes, *_card_writes(source, **destroyed, **of_card)]


def is_of_checkout(source: Source) -> bool:
    """Return whether the payer of a checkout gave this source, which was charged or checked; a program made others."""
    charged = Charge.objects.filter(source_id=source.id, merchant_id=source.merchant_id, checkout__isnull=False)
    checked = Checkout.objects.filter(check_source_id=source.id, merchant_id=source.merchant_id)
    return charged.exists() or checked.exists()


def add_consent(source: Source, consent: dict[str, Any] | None) -> list[Write]:
    """Return the write that keeps what the payer agreed to with a vaulted source; none where there is one already."""
    if source.consent or not consent:
        return []
    without = {"id": source.id, "merchant_id": source.merchant_id, "vaulted": True, "consent": None}
    return [Update(Source, without, {"consent": consent})]


def unvault(caller: Caller, source: Source) -> list[Write]:
    """Return the writes that detach a vaulted source and destroy its card data."""
    writes = _change(caller, source, SOURCE_DELETED, {"vaulted": True}, vaulted=False)
    destroyed = {"sealed_number": None, "sealed_cvc": None, "cvc_expires_at": None, "network_reference": ""}
    return [*writes, *_card_writes(source, **destroyed, expiring_at=None)]


def announce_expiring(card: Card) -> bool:
    """Write the event that a kept card, read with its source, expires soon; return True.

    Raise StaleRow where it has changed.
    """
    source = card.source
    writes = _change(Caller(source.merchant_id, source.livemode), source, SOURCE_EXPIRING, {"vaulted": True})
    unsaid = {"id": card.id, "merchant_id": card.merchant_id, "expiring_at": card.expiring_at}
    execute_writes(*writes, Update(Card, unsaid, {"expiring_at": None}))
    return True


def _change(caller: Caller, source: Source, event: str, guard: dict[str, Any], **changes: Any) -> list[Write]:
    unchanged = {"id": source.id, "merchant_id": source.merchant_id, "version": source.version, **guard}
    values = changes | {"version": source.version + 1, "updated_at": clock.now()}
    for name, value in values.items():
        setattr(source, name, value)
    return [Update(Source, unchanged, values), *events.of(caller, event, source)]


def _card_writes(source: Source, **changes: Any) -> list[Write]:
    card: Card | None = getattr(source, "card", None)
    return [Update(Card, {"id": card.id, "merchant_id": card.merchant_id}, changes)] if card else []

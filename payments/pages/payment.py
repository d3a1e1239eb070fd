"""What every page of a payment shows: merchant, order, amount, time left and reference."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from payments import clock, sourcetypes
from payments.domain.messages.receipts import way_of
from payments.ids import short_reference
from payments.models import Attempt, Charge, Merchant
from payments.money import shown_amount
from payments.rendering.brand import Brand, brand_of, own_branding, with_own_pictures

MINUTE_SECONDS = 60


def shown_payment(charge: Charge) -> dict[str, Any]:
    """Return the context of a page about the payment of `charge`."""
    order = charge.checkout.order if charge.checkout else {}
    return {
        **shown_merchant(charge.merchant, order.get("branding")),
        **shown_facts(charge),
        "test_mode": not charge.livemode,
        "order": charge.description,
        "amount": shown_amount(charge.amount, charge.currency),
        **_time_left(charge),
    }


def shown_facts(charge: Charge) -> dict[str, Any]:
    """Return the context of what a page says about a payment below its amount."""
    return {
        "moment": charge.created_at,
        "type": sourcetypes.shown(charge.source.type),
        "way": way_of(charge.source),
        "reference": short_reference(charge.id),
        "statement_descriptor": charge.statement_descriptor,
    }


def shown_return(charge: Charge) -> dict[str, Any]:
    """Return the context of what the shop has given back of a payment, whole or in part, or released of a hold."""
    is_voided = charge.status == Charge.Status.VOIDED
    amount = charge.amount_captured if is_voided else charge.amount_refunded
    return {
        "is_returned": charge.captured and (is_voided or charge.status == Charge.Status.REFUNDED),
        "is_released": is_voided and not charge.captured,
        "returned": shown_amount(amount, charge.currency) if amount else "",
    }


def shown_merchant(merchant: Merchant, branding: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the shop of a page, in its own colours or in those of `branding`, and where payers reach it."""
    own = own_branding(merchant)
    return {
        "merchant": merchant.title,
        "brand": brand_of(with_own_pictures(branding, own) if branding else own),
        "support_email": merchant.support_email,
        "support_phone": merchant.support_phone,
    }


def _time_left(charge: Charge) -> dict[str, Any]:
    if charge.status != Charge.Status.PENDING or charge.action_expires_at is None:
        return {}
    seconds = max(0, int((charge.action_expires_at - clock.now()).total_seconds()))
    minutes, rest = divmod(seconds, MINUTE_SECONDS)
    return {"seconds_left": seconds, "time_left": f"{minutes}:{rest:02}"}


def charge_of_attempt(reference: str) -> Charge | None:
    """Return the charge of the attempt whose ID a provider has as `reference`; None where it is no attempt's."""
    try:
        attempt_id = UUID(hex=reference)
    except ValueError:
        return None
    attempts = Attempt.objects.select_related("charge__merchant", "charge__source__card")
    attempt = attempts.filter(id=attempt_id).first()
    return attempt.charge if attempt else None


def image_origins(context: dict[str, Any]) -> list[str]:
    """Return the origins from which a page with this context loads images."""
    brand: Brand | None = context.get("brand")
    return [brand.logo_origin] if brand and brand.logo_origin else []

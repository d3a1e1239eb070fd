"""What every page of a payment shows: merchant, order, amount, time left and reference."""

from typing import Any
from uuid import UUID

from payments import clock, sourcetypes
from payments.ids import public_id
from payments.models import Attempt, Charge
from payments.money import format_amount
from payments.rendering.brand import Brand, brand_of

MINUTE_SECONDS = 60


def shown_payment(charge: Charge) -> dict[str, Any]:
    """Return the context of a page about the payment of `charge`."""
    return {
        "test_mode": not charge.livemode,
        "merchant": charge.merchant.title,
        "brand": brand_of(charge.merchant.branding),
        "order": charge.description,
        "amount": format_amount(charge.amount, charge.currency),
        "type": sourcetypes.shown(charge.source.type),
        "reference": public_id("ch", charge.id),
        **_time_left(charge),
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
    attempts = Attempt.objects.select_related("charge__merchant", "charge__source")
    attempt = attempts.filter(id=attempt_id).first()
    return attempt.charge if attempt else None


def image_origins(context: dict[str, Any]) -> list[str]:
    """Return the origins from which a page with this context loads images."""
    brand: Brand | None = context.get("brand")
    return [brand.logo_origin] if brand and brand.logo_origin else []

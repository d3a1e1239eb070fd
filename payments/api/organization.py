"""The merchant as `/v2/me` shows it (contract, section 3): every member is there, null where nothing is known."""

from collections.abc import Mapping
from typing import Any

from payments import clock, sourcetypes
from payments.domain.merchants.terms import is_enabled
from payments.domain.payouts.schedules import account_in_effect
from payments.domain.routing.candidates import first_routes
from payments.ids import public_id
from payments.ledger.fees import rate_of
from payments.models import ApiKey, Merchant, PayoutSchedule, Route
from payments.money import DEFAULT_CURRENCY
from payments.providers.registry import CONNECTORS
from payments.rendering.brand import branding_of

# In place of a key that there is not, and of what is masked.
MASK = "****"
BANK_TRANSFER = "bank_transfer"
STATUSES = {"active": "approved", "closed": "rejected"}
SIMULATOR = {"id": "simulator", "name": "Simulator"}


def render_organization(merchant: Merchant, livemode: bool) -> dict[str, Any]:
    """Return the merchant as a key of this mode sees it; fees and payouts are those in Philippine pesos."""
    rates = {name: _rate(merchant.rates, name) for name in sourcetypes.NAMES}
    return {
        "object": "organization",
        "id": public_id("mer", merchant.id),
        "title": merchant.title,
        "account_name": merchant.account_name,
        "statement_descriptor": merchant.statement_descriptor,
        **_keys(merchant),
        "branding": branding_of(merchant.branding),
        "status": STATUSES[merchant.status],
        "business_address": merchant.business_address or None,
        "payment_method_settings": _payment_methods(merchant, livemode, rates),
        "rates": rates,
        "payout_settings": _payout_settings(merchant, livemode),
        "metadata": merchant.metadata,
        "created_at": clock.iso(merchant.created_at),
        "updated_at": clock.iso(merchant.updated_at),
    }


def _keys(merchant: Merchant) -> dict[str, str]:
    """Return the newest key of each kind and mode: publishable keys whole, secret keys masked to their last four."""
    shown = {f"{kind}_{mode}_key": MASK for kind in ("pk", "sk") for mode in ("test", "live")}
    for key in merchant.keys.filter(revoked_at=None).exclude(kind=ApiKey.Kind.RESTRICTED).order_by("created_at"):
        name = f"{key.masked_prefix}key"
        shown[name] = key.public_text if key.kind == ApiKey.Kind.PUBLISHABLE else f"{MASK}{key.last4}"
    return shown


def _rate(rates: Mapping[str, Any], source_type: str) -> dict[str, Any]:
    rate = rate_of(rates, source_type, DEFAULT_CURRENCY)
    return {"mdr": rate.basis_points / 100, "fixed_fee": rate.fixed}


def _payment_methods(merchant: Merchant, livemode: bool, rates: Mapping[str, Any]) -> dict[str, Any]:
    """Return each source type with its `status`: `rejected` is switched off, `pending` has no route yet."""
    routes = first_routes(merchant.id) if livemode else {}
    return {
        name: {
            **(_gateway(routes.get(name)) if livemode else {"mid": None, "gateway": SIMULATOR}),
            "rate": {**rates[name], "formula": "mdr_plus_fixed"},
            "status": _status(merchant, name, livemode, is_routed=not livemode or name in routes),
        }
        for name in sourcetypes.NAMES
    }


def _gateway(route: Route | None) -> dict[str, Any]:
    """Return the provider that a type's first route leads to, and the merchant's own ID there."""
    if route is None:
        return {"mid": None, "gateway": None}
    connector = CONNECTORS[route.account.provider]
    mid = route.account.settings.get(connector.merchant_setting)
    return {"mid": mid, "gateway": {"id": connector.name, "name": connector.title}}


def _status(merchant: Merchant, source_type: str, livemode: bool, *, is_routed: bool) -> str:
    if not is_enabled(merchant.payment_method_settings, source_type, livemode):
        return "rejected"
    return "approved" if is_routed else "pending"


def _payout_settings(merchant: Merchant, livemode: bool) -> dict[str, Any]:
    """Return how the merchant is paid out now: null where it has no schedule or no bank account."""
    own = {"merchant_id": merchant.id, "livemode": livemode, "currency": DEFAULT_CURRENCY}
    schedule = PayoutSchedule.objects.filter(**own).first()
    account = account_in_effect(schedule or PayoutSchedule(**own), clock.now())
    is_manual = schedule and schedule.interval == PayoutSchedule.Interval.MANUAL
    return {
        "schedule": ("manual" if is_manual else "automatic") if schedule else None,
        "delivery_type": account and BANK_TRANSFER,
        "bank_code": account and account.bic,
        "account_number": account and f"{MASK}{account.last4}",
        "account_name": account and account.holder,
    }

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request

from payments import clock, sourcetypes
from payments.api.access.authentication import key_of
from payments.api.responses.rendering import json_response
from payments.api.views.viewset import ApiViewSet
from payments.domain.merchants.terms import is_enabled, switches_in
from payments.domain.routing.candidates import available_types
from payments.ids import public_id
from payments.ledger.balances import Balance, balances_of
from payments.models import ApiKey, Merchant

NO_KEY = "****"


class AccountViewSet(ApiViewSet):
    """The merchant of an API key, its balance, and a call that only tries the key."""

    rights = {"me": "account:read", "balance": "balance:read", "ping": "account:read"}

    def me(self, request: Request) -> HttpResponse:
        key = key_of(request)
        return json_response(_render(key.merchant, key.livemode))

    def balance(self, request: Request) -> HttpResponse:
        key = key_of(request)
        return json_response(_render_balance(key.livemode, balances_of(key.merchant_id, key.livemode)))

    def ping(self, request: Request) -> HttpResponse:
        return json_response({})


def healthy(request: HttpRequest) -> HttpResponse:
    """Answer `/ping`, the health check: no key needed."""
    return HttpResponse("healthy", content_type="text/plain; charset=utf-8")


def _render(merchant: Merchant, livemode: bool) -> dict[str, Any]:
    return {
        "object": "organization",
        "id": public_id("mer", merchant.id),
        "title": merchant.title,
        "account_name": merchant.account_name,
        "statement_descriptor": merchant.statement_descriptor,
        **_keys(merchant),
        "branding": merchant.branding,
        "status": merchant.status,
        "business_address": merchant.business_address,
        "payment_method_settings": _switches(merchant, livemode),
        "rates": merchant.rates,
        "payout_settings": merchant.payout_settings,
        "metadata": merchant.metadata,
        "created_at": clock.iso(merchant.created_at),
        "updated_at": clock.iso(merchant.updated_at),
    }


def _switches(merchant: Merchant, livemode: bool) -> dict[str, dict[str, bool]]:
    """Return which source types are enabled: in live mode a type needs an active route too."""
    methods = merchant.payment_method_settings
    if not livemode:
        return switches_in(methods, livemode)
    routed = available_types(merchant.id)
    return {name: {"enabled": name in routed and is_enabled(methods, name, livemode)} for name in sourcetypes.NAMES}


def _render_balance(livemode: bool, balances: Mapping[str, Balance]) -> dict[str, Any]:
    return {
        "object": "balance",
        "livemode": livemode,
        "available": [{"amount": balance.available, "currency": code} for code, balance in balances.items()],
        "pending": [{"amount": balance.pending, "currency": code} for code, balance in balances.items()],
        "held": [{"amount": balance.held, "currency": code} for code, balance in balances.items()],
    }


def _keys(merchant: Merchant) -> dict[str, str]:
    """Return the newest key of each kind and mode: publishable keys whole, secret keys masked to their last four."""
    shown = {f"{kind}_{mode}_key": NO_KEY for kind in ("pk", "sk") for mode in ("test", "live")}
    for key in merchant.keys.filter(revoked_at=None).exclude(kind=ApiKey.Kind.RESTRICTED).order_by("created_at"):
        name = f"{key.masked_prefix}key"
        shown[name] = key.public_text if key.kind == ApiKey.Kind.PUBLISHABLE else f"{NO_KEY}{key.last4}"
    return shown

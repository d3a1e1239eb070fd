from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request

from payments.api.access.authentication import key_of
from payments.api.organization import render_organization
from payments.api.responses.rendering import json_response
from payments.api.views.viewset import ApiViewSet
from payments.ledger.balances import Balance, balances_of


class AccountViewSet(ApiViewSet):
    """The merchant of an API key, its balance, and a call that only tries the key."""

    rights = {"me": "account:read", "balance": "balance:read", "ping": "account:read"}

    def me(self, request: Request) -> HttpResponse:
        key = key_of(request)
        return json_response(render_organization(key.merchant, key.livemode))

    def balance(self, request: Request) -> HttpResponse:
        key = key_of(request)
        return json_response(_render_balance(key.livemode, balances_of(key.merchant_id, key.livemode)))

    def ping(self, request: Request) -> HttpResponse:
        return json_response({})


def healthy(request: HttpRequest) -> HttpResponse:
    """Answer `/ping`, the health check: no key needed."""
    return HttpResponse("healthy", content_type="text/plain; charset=utf-8")


def _render_balance(livemode: bool, balances: Mapping[str, Balance]) -> dict[str, Any]:
    return {
        "object": "balance",
        "livemode": livemode,
        "available": [{"amount": balance.available, "currency": code} for code, balance in balances.items()],
        "pending": [{"amount": balance.pending, "currency": code} for code, balance in balances.items()],
        "reserved": [{"amount": balance.reserved, "currency": code} for code, balance in balances.items()],
        "held": [{"amount": balance.held, "currency": code} for code, balance in balances.items()],
    }

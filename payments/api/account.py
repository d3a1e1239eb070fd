from collections.abc import Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.request import Request

from payments.api.access.authentication import key_of
from payments.api.access.throttling import AddressThrottle
from payments.api.organization import ACCOUNT, Organization
from payments.api.responses.rendering import json_response
from payments.api.views.base import ApiView
from payments.api.views.viewset import ApiViewSet
from payments.ledger.balances import Balance, balances_of
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member


class Balances(NamedTuple):
    """The balances of a merchant in one mode, by currency."""

    livemode: bool
    by_currency: Mapping[str, Balance]


BALANCE_AMOUNT = ApiObject(
    "BalanceAmount",
    "An amount of one currency.",
    amount=Member(
        {"type": "integer"}, "In the currency's smallest unit; negative if you owe it.", read=itemgetter(1), example=0
    ),
    currency=member.currency(read=itemgetter(0)),
)


def _amounts(name: str, meaning: str, example: int) -> Member:
    return member.nested(
        BALANCE_AMOUNT,
        meaning,
        many=True,
        read=lambda balances: [(code, getattr(each, name)) for code, each in balances.by_currency.items()],
        example=[BALANCE_AMOUNT.example | {"amount": example}],
    )


BALANCE = ApiObject(
    "Balance",
    "Your money, in each currency that you have used.",
    object=member.named("balance"),
    livemode=member.flag("Whether this is real money.", False),
    available=_amounts("available", "Captured and settled, for the next payout.", 1_204_500),
    pending=_amounts("pending", "Captured, to be settled after the end of the day (UTC).", 115_785),
    reserved=_amounts("reserved", "Kept of payouts for some days.", 120_450),
    held=_amounts("held", "Held and not captured yet; fees are deducted with the capture.", 0),
)


class AccountViewSet(ApiViewSet):
    """The merchant of an API key, its balance, and a call that only tries the key."""

    reads, rights = "account:read", {"balance": "balance:read"}

    def me(self, request: Request) -> HttpResponse:
        key = key_of(request)
        return json_response(ACCOUNT.render(Organization(key.merchant, key.livemode)))

    def balance(self, request: Request) -> HttpResponse:
        key = key_of(request)
        return json_response(BALANCE.render(Balances(key.livemode, balances_of(key.merchant_id, key.livemode))))

    def ping(self, request: Request) -> HttpResponse:
        return json_response({})


class HealthView(ApiView):
    """`/v2/health`, public: a page asks here whether card fields will work."""

    schema = None
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = (AddressThrottle,)

    def get(self, request: Request, **_: Any) -> HttpResponse:
        return json_response({"status": "ok"})


class PingView(ApiView):
    """`/ping`, the health check: no key needed, and any query is ignored, as probes add what they like."""

    schema = None
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def dispatch(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        is_asked = request.method in ("GET", "HEAD")
        return self.get(request) if is_asked else super().dispatch(request, *args, **named)

    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse("healthy", content_type="text/plain; charset=utf-8")

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.filters import payout_filters, payouts_page, transaction_filters
from payments.api.responses.rendering import json_response
from payments.api.validation.money_queries import PayoutListQuery, TransactionListQuery
from payments.api.validation.query_fields import PageQuery
from payments.api.views.lists import Filters, Listing, not_in_list, show_page
from payments.api.views.viewset import ApiViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import not_found
from payments.ids import parse_id
from payments.ledger import transactions
from payments.models import Payout, Posting
from payments.rendering.objects.payouts import PAYOUT, TRANSACTION

PAYOUTS = Listing(Payout, "po", CompiledQuery(payouts_page, for_rendering=True), payout_filters)
TRANSACTIONS = Listing(
    *(Posting, "txn", transactions.of_merchant, transaction_filters),
    within={"account__in": transactions.ACCOUNTS},
)


class PayoutViewSet(ApiViewSet):
    """The payouts of the merchant's balance, and what each is made of."""

    query_serializers = {"list": PayoutListQuery, "transactions": PageQuery}
    rights = {"list": "payouts:read", "retrieve": "payouts:read", "transactions": "payouts:read"}

    def list(self, request: Request) -> HttpResponse:
        return show_page(request, self.caller(request), PAYOUTS, self.query, PAYOUT.render)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        return json_response(PAYOUT.render(_find(self.caller(request), pk)))

    @action(detail=True)
    def transactions(self, request: Request, pk: str) -> HttpResponse:
        caller = self.caller(request)
        return show_page(request, caller, _parts_of(_find(caller, pk)), self.query, TRANSACTION.render)


class BalanceTransactionViewSet(ApiViewSet):
    """What the merchant's balance is made of."""

    query_serializers = {"list": TransactionListQuery}
    rights = {"list": "balance:read", "retrieve": "balance:read"}

    def list(self, request: Request) -> HttpResponse:
        return show_page(request, self.caller(request), TRANSACTIONS, self.query, TRANSACTION.render)

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        caller, uuid = self.caller(request), parse_id("txn", pk)
        own = Posting.objects.of(caller.merchant_id, caller.livemode).filter(account__in=transactions.ACCOUNTS)
        posting = own.filter(id=uuid).first() if uuid else None
        if posting is None:
            raise not_found("balance transaction", text=pk)
        return json_response(TRANSACTION.render(posting))


def _find(caller: Caller, text: str) -> Payout:
    uuid = parse_id("po", text)
    own = Payout.objects.of(caller.merchant_id, caller.livemode).select_related("account")
    payout = own.filter(id=uuid).first() if uuid else None
    if payout is None:
        raise not_found("payout", text=text)
    return payout


def _parts_of(payout: Payout) -> Listing:
    """Return the list of what the payout is made of."""

    def narrow(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
        found = transactions.find_in_parts(payout, after) if after else None
        if after and found is None:
            raise not_in_list("start_after")
        return {"after": found}

    def page(*, length: int, after: Posting | None, **owner: Any) -> list[Posting]:
        return transactions.of_parts(payout, length, after)

    return Listing(Posting, "txn", page, narrow)

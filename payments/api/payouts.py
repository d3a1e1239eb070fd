from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework.decorators import action
from rest_framework.request import Request

from payments.api.filters import payout_filters, payouts_page, transaction_filters
from payments.api.responses.rendering import json_response
from payments.api.validation.money_queries import PayoutListQuery, TransactionListQuery
from payments.api.validation.query_fields import PageQuery
from payments.api.views.lists import Filters, Listing, ListViewSet, not_in_list, show_page
from payments.api.views.viewset import ApiViewSet
from payments.db.compiled_query import CompiledQuery
from payments.domain.catalogue.error_table import NOT_FOUND, RESOURCE_MISSING
from payments.domain.shared.caller import Caller
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.finder import Finder
from payments.domain.transparency.proofs import leaves_of_journals, proof_of, with_leaves
from payments.ledger import transactions
from payments.models import Payout, Posting
from payments.rendering.objects.payouts import PAYOUT, PROOF, TRANSACTION

NO_PROOF_YET = "This transaction is in no signed head of the log yet. One is signed every hour."


def _with_leaves(merchant_id: UUID, livemode: bool, postings: Sequence[Posting]) -> list[Any]:
    """Return rows of TRANSACTION with the numbers of their leaves."""
    rows: list[Any] = list(postings)
    leaves = leaves_of_journals(merchant_id, livemode, {row.journal for row in rows})
    for row in rows:
        row.leaf = leaves.get(row.journal)
    return rows


def _list_transactions(*, merchant_id: UUID, livemode: bool, **path: Any) -> list[Any]:
    found = transactions.of_merchant(merchant_id=merchant_id, livemode=livemode, **path)
    return _with_leaves(merchant_id, livemode, found)


PAYOUTS = Listing(Payout, "po", CompiledQuery(payouts_page, for_rendering=True), payout_filters)
find_payout = Finder("po", lambda *owner: with_leaves(Payout.objects.of(*owner).select_related("account"), *owner))
find_transaction = Finder("txn", lambda *owner: Posting.objects.of(*owner).filter(account__in=transactions.ACCOUNTS))
TRANSACTIONS = Listing(
    *(Posting, "txn", _list_transactions, transaction_filters),
    within={"account__in": transactions.ACCOUNTS},
)


class PayoutViewSet(ListViewSet):
    """The payouts of the merchant's balance, and what each is made of."""

    listing, shown, find = PAYOUTS, PAYOUT, find_payout
    query_serializers = {"list": PayoutListQuery, "transactions": PageQuery}
    reads = "payouts:read"

    @action(detail=True)
    def transactions(self, request: Request, pk: str) -> HttpResponse:
        caller = self.caller(request)
        return show_page(request, caller, _parts_of(self.find(caller, pk)), self.query, TRANSACTION.render)


class BalanceTransactionViewSet(ListViewSet):
    """What the merchant's balance is made of."""

    listing, shown, find = TRANSACTIONS, TRANSACTION, find_transaction
    query_serializers = {"list": TransactionListQuery}
    reads = "balance:read"

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        caller = self.caller(request)
        [posting] = _with_leaves(caller.merchant_id, caller.livemode, [self.find(caller, pk)])
        return json_response(TRANSACTION.render(posting))


class ProofViewSet(ApiViewSet):
    """The proofs that transactions are in the transparency log."""

    reads = "balance:read"

    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        proof = proof_of(find_transaction(self.caller(request), pk))
        if proof is None:
            raise PaymentError(NOT_FOUND, RESOURCE_MISSING, NO_PROOF_YET)
        return json_response(PROOF.render(proof))


def _parts_of(payout: Payout) -> Listing:
    """Return the list of what the payout is made of."""

    def narrow(caller: Caller, query: Mapping[str, Any], after: UUID | None) -> Filters:
        found = transactions.find_in_parts(payout, after) if after else None
        if after and found is None:
            raise not_in_list("start_after")
        return {"after": found}

    def page(*, length: int, after: Posting | None, **owner: Any) -> list[Any]:
        return _with_leaves(payout.merchant_id, payout.livemode, transactions.of_parts(payout, length, after))

    return Listing(Posting, "txn", page, narrow)

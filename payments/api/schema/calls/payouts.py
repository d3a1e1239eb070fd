"""Payouts and the transactions of a balance in the OpenAPI document."""

from payments.api.schema.examples import page
from payments.api.schema.operations import DescribedView, id_in_path, reading
from payments.api.schema.responses import page_of
from payments.api.validation.money_queries import PayoutListQuery, TransactionListQuery
from payments.api.validation.query_fields import PageQuery
from payments.rendering.objects.payouts import PAYOUT, PAYOUT_ID, PROOF, TRANSACTION

TRANSACTIONS = page_of(TRANSACTION)
THE_PAYOUT = [id_in_path("po", "payout")]


class Payouts(DescribedView):
    target_class = "payments.api.payouts.PayoutViewSet"
    operations = {
        "list": reading(
            "list_payouts",
            "List payouts",
            "Newest first.",
            page_of(PAYOUT),
            page("/v2/payouts/", PAYOUT.example),
            tag="Payouts",
            query=PayoutListQuery,
        ),
        "retrieve": reading(
            "retrieve_payout",
            "Retrieve a payout",
            "The payout as it is now.",
            PAYOUT,
            PAYOUT.example,
            tag="Payouts",
            at=THE_PAYOUT,
        ),
        "transactions": reading(
            "list_payout_transactions",
            "List what a payout is made of",
            "The changes of your available balance that the payout pays, those settled or made last first. They add up "
            "to its `amount` and `reserve`, and stay the same if it fails.",
            TRANSACTIONS,
            page(f"/v2/payouts/{PAYOUT_ID}/transactions/", TRANSACTION.example),
            tag="Payouts",
            at=THE_PAYOUT,
            query=PageQuery,
        ),
    }


class BalanceTransactions(DescribedView):
    target_class = "payments.api.payouts.BalanceTransactionViewSet"
    operations = {
        "list": reading(
            "list_balance_transactions",
            "List balance transactions",
            "Every change of your pending, available and reserved balances, newest first. In each currency they add up "
            "to what `/v2/balance` shows, at any moment: if the balance is the same before and after you have read all "
            "pages, they are its sum.",
            TRANSACTIONS,
            page("/v2/balance_transactions/", TRANSACTION.example),
            tag="Account",
            query=TransactionListQuery,
        ),
        "retrieve": reading(
            "retrieve_balance_transaction",
            "Retrieve a balance transaction",
            "One change of one of your balances.",
            TRANSACTION,
            TRANSACTION.example,
            tag="Account",
            at=[id_in_path("txn", "balance transaction")],
        ),
    }


class Proofs(DescribedView):
    target_class = "payments.api.payouts.ProofViewSet"
    operations = {
        "retrieve": reading(
            "retrieve_proof",
            "Retrieve the proof of a balance transaction",
            "What shows that the transaction is in the transparency log, with a signed head that anybody may compare "
            "with `/transparency`. `404` also within the hour until a head has it.",
            PROOF,
            PROOF.example,
            tag="Account",
            at=[id_in_path("txn", "balance transaction")],
        ),
    }

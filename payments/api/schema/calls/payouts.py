"""Payouts and the transactions of a balance in the OpenAPI document."""

from payments.api.schema.operations import DescribedView, id_in_path, listing, reading
from payments.api.validation.money_queries import PayoutListQuery, TransactionListQuery
from payments.api.validation.query_fields import PageQuery
from payments.rendering.objects.payouts import PAYOUT, PAYOUT_ID, PROOF, TRANSACTION


class Payouts(DescribedView):
    target_class = "payments.api.payouts.PayoutViewSet"
    tag = "Payouts"
    at = [id_in_path("po", "payout")]
    operations = {
        "list": listing("list_payouts", "List payouts", "Newest first.", PAYOUT, "/v2/payouts/", PayoutListQuery),
        "retrieve": reading("retrieve_payout", "Retrieve a payout", "The payout as it is now.", PAYOUT),
        "transactions": listing(
            "list_payout_transactions",
            "List what a payout is made of",
            "The changes of your available balance that the payout pays, those settled or made last first. They add up "
            "to its `amount` and `reserve`, and stay the same if it fails.",
            TRANSACTION,
            f"/v2/payouts/{PAYOUT_ID}/transactions/",
            PageQuery,
        ),
    }


class BalanceTransactions(DescribedView):
    target_class = "payments.api.payouts.BalanceTransactionViewSet"
    tag = "Account"
    at = [id_in_path("txn", "balance transaction")]
    operations = {
        "list": listing(
            "list_balance_transactions",
            "List balance transactions",
            "Every change of your pending, available and reserved balances, newest first. In each currency they add up "
            "to what `/v2/balance` shows, at any moment: if the balance is the same before and after you have read all "
            "pages, they are its sum.",
            TRANSACTION,
            "/v2/balance_transactions/",
            TransactionListQuery,
        ),
        "retrieve": reading(
            "retrieve_balance_transaction",
            "Retrieve a balance transaction",
            "One change of one of your balances.",
            TRANSACTION,
        ),
    }


class Proofs(DescribedView):
    target_class = "payments.api.payouts.ProofViewSet"
    tag = "Account"
    at = [id_in_path("txn", "balance transaction")]
    operations = {
        "retrieve": reading(
            "retrieve_proof",
            "Retrieve the proof of a balance transaction",
            "What shows that the transaction is in the transparency log, with a signed head that anybody may compare "
            "with `/transparency`. `404` also within the hour until a head has it.",
            PROOF,
        ),
    }

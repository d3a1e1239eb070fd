"""Payouts and the transactions of a balance in the OpenAPI document."""

from typing import Any

from payments.api.schema import examples
from payments.api.schema.members import (
    Member,
    choice,
    created,
    currency,
    id_form,
    livemode,
    moment,
    named,
    number,
    own_id,
    shown,
    text,
    updated,
)
from payments.api.schema.operations import DescribedView, id_in_path, reading
from payments.api.schema.responses import EVENT_OBJECTS, page_of
from payments.api.validation.money_queries import PayoutListQuery, TransactionListQuery
from payments.api.validation.query_fields import PageQuery
from payments.models import Payout, Posting
from payments.rendering.payouts import BALANCES

Kind = Posting.Kind
# The kinds of movements that change a balance, in the order of a payment's life.
KINDS = {
    Kind.CAPTURE: "money of a charge that was captured",
    Kind.FEE: "your fee for it",
    Kind.VOID: "a captured charge was voided, or the fee for it came back",
    Kind.REFUND: "a refund, when it was asked for",
    Kind.REFUND_FAILED: "a refund that failed, given back",
    Kind.DISPUTE: "money that the payer's bank took back",
    Kind.DISPUTE_FEE: "your fee for that, or the fee given back",
    Kind.DISPUTE_WON: "such money that came back",
    Kind.SETTLE: "from pending to available",
    Kind.PAYOUT: "on its way to your bank",
    Kind.PAYOUT_FAILED: "a payout that failed or was cancelled, given back",
    Kind.PAYOUT_LATE: "a payout that had failed, and was paid after all",
    Kind.RESERVE: "kept of a payout, from available to reserved",
    Kind.RESERVE_RELEASE: "from reserved to available",
}
BANK_MEMBERS: dict[str, Any] = {
    "holder": text("Whose account it is."),
    "last4": text("The last four characters of its number."),
    "bic": text("The bank's BIC (ISO 9362)."),
    "country": Member({"type": "string", "pattern": "^[A-Z]{2}$"}, "The country of the account (ISO 3166)."),
}
PAYOUT_BANK_ACCOUNT = shown("PayoutBankAccount", "The bank account of a payout.", **BANK_MEMBERS)
PAYOUT_ACCOUNT = shown(
    "PayoutAccount",
    "A bank account that payouts in one currency go to, until another one takes effect.",
    object=named("payout_account"),
    id=own_id("ba"),
    currency=currency(),
    **BANK_MEMBERS,
    livemode=livemode(),
    effective_at=moment("From when on payouts go to it: in live mode a day after it was added."),
    withdrawn_at=moment("When it was withdrawn before that, so that no payout goes to it.", required=False),
    created_at=created(),
)
PAYOUT = shown(
    "Payout",
    "Money of your balance that goes to your bank account.",
    object=named("payout"),
    id=own_id("po"),
    amount=Member({"type": "integer", "minimum": 1}, "How much is paid, in the currency's smallest unit."),
    currency=currency(),
    reserve=number("How much of the same balance was kept, in the currency's smallest unit."),
    reserve_release_at=moment("When the reserve becomes available; absent once it is.", required=False),
    status=choice(
        Payout.Status.values,
        "`pending`, then `in_transit` to the bank, then `paid`. `failed`: a bank refused or returned it, even after "
        "`paid`; `cancelled`: it was never sent. After these two your balance has the money again.",
    ),
    failure_code=text("Why it failed, such as `account_refused` or `returned`.", required=False),
    bank_account=PAYOUT_BANK_ACCOUNT(help_text="Where it goes."),
    livemode=livemode(),
    sent_at=moment("When it was sent to the bank.", required=False),
    paid_at=moment("When it left for your account.", required=False),
    created_at=created(),
    updated_at=updated(),
)
TRANSACTION = shown(
    "BalanceTransaction",
    "One change of one of your balances.",
    object=named("balance_transaction"),
    id=own_id("txn"),
    type=choice(KINDS, "; ".join(f"`{kind}`: {meaning}" for kind, meaning in KINDS.items()) + "."),
    balance=choice(tuple(BALANCES.values()), "The balance that it changes."),
    amount=Member(
        {"type": "integer", "not": {"const": 0}},
        "By how much, in the currency's smallest unit: negative where the balance decreases.",
    ),
    currency=currency(),
    charge=Member(id_form("ch"), "The ID of the charge that it is about.", required=False),
    payout=Member(id_form("po"), "The ID of the payout that it is about, instead of a charge.", required=False),
    livemode=livemode(),
    created_at=moment("Time of the change, whole milliseconds."),
)
TRANSACTIONS = page_of(TRANSACTION)
EVENT_OBJECTS |= {"payout": PAYOUT, "payout_account": PAYOUT_ACCOUNT}
THE_PAYOUT = [id_in_path("po", "payout")]


class Payouts(DescribedView):
    target_class = "payments.api.payouts.PayoutViewSet"
    operations = {
        "list": reading(
            "list_payouts",
            "List payouts",
            "Newest first.",
            page_of(PAYOUT),
            examples.page("/v2/payouts/", examples.PAYOUT),
            tag="Payouts",
            query=PayoutListQuery,
        ),
        "retrieve": reading(
            "retrieve_payout",
            "Retrieve a payout",
            "The payout as it is now.",
            PAYOUT,
            examples.PAYOUT,
            tag="Payouts",
            at=THE_PAYOUT,
        ),
        "transactions": reading(
            "list_payout_transactions",
            "List what a payout is made of",
            "The changes of your available balance that the payout pays, those settled or made last first. They add up "
            "to its `amount` and `reserve`, and stay the same if it fails.",
            TRANSACTIONS,
            examples.page(f"/v2/payouts/{examples.PAYOUT_ID}/transactions/", examples.TRANSACTION),
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
            examples.page("/v2/balance_transactions/", examples.TRANSACTION),
            tag="Account",
            query=TransactionListQuery,
        ),
        "retrieve": reading(
            "retrieve_balance_transaction",
            "Retrieve a balance transaction",
            "One change of one of your balances.",
            TRANSACTION,
            examples.TRANSACTION,
            tag="Account",
            at=[id_in_path("txn", "balance transaction")],
        ),
    }

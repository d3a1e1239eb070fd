"""Payouts and the transactions of a balance, as the API and the webhooks show them."""

from datetime import datetime
from operator import neg

from payments.ids import moment_of
from payments.models import Payout, Posting
from payments.rendering.objects import member
from payments.rendering.objects.api_object import ApiObject, Member
from payments.rendering.objects.charges import CHARGE_ID

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
# The accounts that a balance consists of, by its members in the API.
BALANCES = {"merchant_pending": "pending", "merchant_payable": "available", "merchant_reserve": "reserved"}
TRANSACTION_ID = "txn_019aa3c726e8a154b5fa14f6e7d8c9ba"
PAYOUT_ID = "po_019aa3c715d79043a4f903e5d6c7b8a9"

# A bank account, also in its events, with no more of its number than this.
PAYOUT_BANK_ACCOUNT = ApiObject(
    "PayoutBankAccount",
    "The bank account of a payout.",
    holder=member.text("Whose account it is.", "Sari Store Trading"),
    last4=member.text("The last four characters of its number.", "6789"),
    bic=member.text("The bank's BIC (ISO 9362).", "BNORPHMM"),
    country=Member({"type": "string", "pattern": "^[A-Z]{2}$"}, "The country of the account (ISO 3166).", example="PH"),
)
PAYOUT_ACCOUNT = ApiObject(
    "PayoutAccount",
    "A bank account that payouts in one currency go to, until another one takes effect.",
    object=member.named("payout_account"),
    id=member.own_id("ba", "ba_019aa3c715d79043a4f903e5d6c7b8b0"),
    currency=member.currency(),
    **PAYOUT_BANK_ACCOUNT.members,
    livemode=member.livemode(example=True),
    effective_at=member.moment(
        "From when on payouts go to it: in live mode a day after it was added.", "2026-11-22T01:43:00.123456Z"
    ),
    withdrawn_at=member.moment("When it was withdrawn before that, so that no payout goes to it.", required=False),
    created_at=member.created(),
)
# It shows a payout that was read with its account.
PAYOUT = ApiObject(
    "Payout",
    "Money of your balance that goes to your bank account.",
    object=member.named("payout"),
    id=member.own_id("po", PAYOUT_ID),
    amount=Member(
        {"type": "integer", "minimum": 1}, "How much is paid, in the currency's smallest unit.", example=1_084_050
    ),
    currency=member.currency(),
    reserve=member.number("How much of the same balance was kept, in the currency's smallest unit.", 120_450),
    reserve_release_at=member.moment(
        "When the reserve becomes available; absent once it is.",
        "2027-02-19T01:00:00.000000Z",
        required=False,
        read="reserve_due_at",
    ),
    status=member.choice(
        Payout.Status.values,
        "`pending`, then `in_transit` to the bank, then `paid`. `failed`: a bank refused or returned it, even after "
        "`paid`; `cancelled`: it was never sent. After these two your balance has the money again.",
        "paid",
    ),
    failure_code=member.text_if_any("Why it failed, such as `account_refused` or `returned`."),
    bank_account=member.nested(PAYOUT_BANK_ACCOUNT, "Where it goes.", read="account"),
    leaves=Member(
        {"type": "integer", "minimum": 0},
        "The numbers of its leaves in the transparency log; absent in events, and until it has one.",
        [1_840],
        required=False,
        read=lambda payout: getattr(payout, "leaves", None) or None,
        many=True,
    ),
    livemode=member.livemode(),
    sent_at=member.moment("When it was sent to the bank.", "2026-11-21T02:10:00.000000Z", required=False),
    paid_at=member.moment("When it left for your account.", "2026-11-22T02:10:00.000000Z", required=False),
    created_at=member.created(),
    updated_at=member.updated(),
)


def _moment_of(posting: Posting) -> datetime:
    return moment_of(posting.id)


# It shows a posting on one of BALANCES: a positive amount is the merchant's. Its time is that of its ID, by which lists
# are ordered and bounded.
TRANSACTION = ApiObject(
    "BalanceTransaction",
    "One change of one of your balances.",
    object=member.named("balance_transaction"),
    id=member.own_id("txn", TRANSACTION_ID),
    type=member.choice(
        KINDS, "; ".join(f"`{kind}`: {meaning}" for kind, meaning in KINDS.items()) + ".", "settle", read="kind"
    ),
    balance=member.choice(
        BALANCES.values(), "The balance that it changes.", "available", read="account", convert=BALANCES.__getitem__
    ),
    amount=Member(
        {"type": "integer", "not": {"const": 0}},
        "By how much, in the currency's smallest unit: negative where the balance decreases.",
        convert=neg,
        example=180_788,
    ),
    currency=member.currency(),
    charge=member.id_of("ch", "The ID of the charge that it is about.", CHARGE_ID, required=False, read="charge_id"),
    payout=member.id_of(
        "po", "The ID of the payout that it is about, instead of a charge.", required=False, read="payout_id"
    ),
    leaf=member.number(
        "The number of its leaf in the transparency log; absent for the few seconds until it has one.",
        1_840,
        required=False,
        read=lambda posting: getattr(posting, "leaf", None),
    ),
    livemode=member.livemode(),
    created_at=member.moment("Time of the change, whole milliseconds.", "2026-11-21T01:43:00.123000Z", read=_moment_of),
)
PROOF = ApiObject(
    "Proof",
    "What shows that a balance transaction is in the transparency log: `kaha-verify proof` checks it.",
    object=member.named("proof"),
    transaction=member.id_of("txn", "The ID of the balance transaction.", TRANSACTION_ID, read="posting_id"),
    leaf=member.number("The number of its leaf.", 1, read="number"),
    content=member.text(
        "What was hashed, as JSON: a version, a salted reference, and what each line moved.",
        '["kaha leaf 1","5f0c…",[[1,"merchant_pending","fee",6328,"PHP",false,"2026-11-21T01:43:00.123456Z"],…]]',
    ),
    salt=member.text("The salt of the reference, in hex digits.", "9f86d081884c7d659a2feaa0c55ad015"),
    opening=member.text(
        "What the reference is to: it is the SHA-256 of the salt and this text.",
        '["019aa3c7-26e8-7154-b5fa-14f6e7d8c9ba",[…]]',
    ),
    path=Member(
        {"type": "string"},
        "The hashes that lead from the leaf to the root of `head` (RFC 6962, 2.1.1), as base64.",
        ["wFIQ8q…="],
        many=True,
    ),
    head=member.text(
        "The newest signed head; it has the leaf.",
        "pay.example.com/transparency\n2\nqA4f…\n2026-11-21T02:00:00.123456Z\n\n"
        "\u2014 pay.example.com/transparency AQID…\n",
    ),
)

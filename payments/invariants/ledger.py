"""Invariants of the ledger, by itself and against each charge."""

from functools import partial

from payments.invariants.invariant import Invariant
from payments.models import Posting

_of_charge = partial(Invariant, model="payments.Charge")

MEMO = "account IN ('provider_hold', 'merchant_hold')"
# The captured amount and the fee, unless a void gave them back.
TAKEN = "CASE WHEN c.status = 'voided' THEN 0 ELSE c.amount_captured END"
FEE = "CASE WHEN c.status = 'voided' THEN 0 ELSE c.fee END"

# Those of disputes that were not given back.
DISPUTE_FEES = """
    LEFT JOIN (SELECT charge_id, sum(fee) AS fee FROM dispute WHERE withdrawn GROUP BY charge_id) d
    ON d.charge_id = c.id
"""


def _sums_up(postings: str, total: str, joined: str = "") -> str:
    """Return the query for charges whose selected `postings` do not sum up to `total`, debits positive."""
    return f"""
        SELECT c.id FROM charge c
        LEFT JOIN (
            SELECT charge_id, sum(amount) AS amount FROM posting WHERE {postings} GROUP BY charge_id
        ) p ON p.charge_id = c.id
        {joined}
        WHERE coalesce(p.amount, 0) <> {total}
    """  # nosec B608 # made of constants


def _refunds(status: str) -> str:
    return f"""
        LEFT JOIN (
            SELECT charge_id, sum(amount) AS amount FROM refund WHERE status = '{status}' GROUP BY charge_id
        ) r ON r.charge_id = c.id
    """  # nosec B608 # made of constants


ACCOUNT_COLUMNS = ", ".join(f"('{account.value}', b.{account.value})" for account in Posting.Account)

INVARIANTS = (
    _of_charge(
        name="journals_balance",
        sentence="The lines of each journal of a charge add up to zero, and so do its lines on memo accounts.",
        query=f"""
            SELECT p.charge_id AS id FROM posting p
            JOIN (
                SELECT journal FROM posting GROUP BY journal
                HAVING sum(amount) <> 0 OR sum(amount) FILTER (WHERE {MEMO}) <> 0
            ) unbalanced ON unbalanced.journal = p.journal
            WHERE p.charge_id IS NOT NULL
        """,  # nosec B608 # made of constants
    ),
    _of_charge(
        name="journals_are_about_one_charge",
        sentence="All lines of a journal of a charge belong to the charge of its first line.",
        query="""
            SELECT p.charge_id AS id FROM posting p
            LEFT JOIN payments_posting first ON first.journal = p.journal AND first.line = 1
            WHERE p.charge_id IS NOT NULL AND p.charge_id IS DISTINCT FROM first.charge_id
        """,
    ),
    _of_charge(
        name="postings_match_their_charge",
        sentence="Each posting of a charge has its merchant, mode and currency.",
        query="""
            SELECT p.charge_id AS id FROM posting p LEFT JOIN charge c ON c.id = p.charge_id
            WHERE p.payout_id IS NULL
            AND (p.merchant_id, p.livemode, p.currency) IS DISTINCT FROM (c.merchant_id, c.livemode, c.currency)
        """,
    ),
    _of_charge(
        name="postings_match_their_settlement",
        sentence="Each settled posting is in a settlement of its merchant, mode and currency.",
        query="""
            SELECT p.charge_id AS id FROM posting p LEFT JOIN payments_settlement s ON s.id = p.settlement_id
            WHERE p.kind = 'settle'
            AND (p.merchant_id, p.livemode, p.currency) IS DISTINCT FROM (s.merchant_id, s.livemode, s.currency)
        """,
    ),
    _of_charge(
        name="ledger_holds",
        sentence="The ledger holds the amount of each held charge, and nothing for other charges.",
        query=_sums_up("account = 'provider_hold'", "CASE WHEN c.authorized THEN c.amount ELSE 0 END"),
    ),
    _of_charge(
        name="ledger_captured",
        sentence="The provider owes us what each charge has captured, less what was voided.",
        query=_sums_up("account = 'provider_receivable' AND kind IN ('capture', 'void')", TAKEN),
    ),
    _of_charge(
        name="ledger_refunds_in_transit",
        sentence="The ledger's refunds in transit are the pending refunds of each charge.",
        query=_sums_up("account = 'refunds_in_transit'", "-coalesce(r.amount, 0)", _refunds("pending")),
    ),
    _of_charge(
        name="ledger_refunds_succeeded",
        sentence="The provider's debt is reduced by the succeeded refunds of each charge.",
        query=_sums_up(
            "account = 'provider_receivable' AND kind IN ('refund_settled', 'refund_failed')",
            "-coalesce(r.amount, 0)",
            _refunds("succeeded"),
        ),
    ),
    _of_charge(
        name="ledger_fees",
        sentence="The fee account has the fees of each captured charge and its disputes, and nothing of a voided one.",
        query=_sums_up("account = 'fees'", f"-({FEE} + coalesce(d.fee, 0))", DISPUTE_FEES),
    ),
    _of_charge(
        name="ledger_owes_the_merchant",
        sentence="We owe the merchant what each charge has captured, less fees, refunds and what is disputed.",
        query=_sums_up(
            "account IN ('merchant_pending', 'merchant_payable')",
            f"{FEE} + coalesce(d.fee, 0) + c.amount_refunded + c.amount_disputed - {TAKEN}",
            DISPUTE_FEES,
        ),
    ),
    _of_charge(
        name="ledger_disputed",
        sentence="The provider's debt is reduced by what payers' banks have taken back of each charge.",
        query=_sums_up("account = 'provider_receivable' AND kind IN ('dispute', 'dispute_won')", "-c.amount_disputed"),
    ),
    _of_charge(
        name="ledger_reversals",
        sentence="We owe payers the money that came after their charge had failed or moved on, until it went back.",
        query=_sums_up(
            "account = 'reversals'",
            "CASE WHEN c.capture_at_once THEN -c.amount * (c.reversed_late::int + coalesce(a.late, 0)) ELSE 0 END",
            """
                LEFT JOIN (
                    SELECT charge_id,
                        count(*) FILTER (WHERE passed_on) - count(*) FILTER (WHERE kind = 'reverse') AS late
                    FROM payments_attempt
                    WHERE passed_on AND outcome = 'LateApproved' OR kind = 'reverse' AND outcome = 'Approved'
                    GROUP BY charge_id
                ) a ON a.charge_id = c.id
            """,
        ),
    ),
    _of_charge(
        name="settled_charges_leave_nothing",
        sentence="Nothing of a settled charge is left on the accounts of unsettled money.",
        query="""
            SELECT c.id FROM charge c
            JOIN (
                SELECT charge_id FROM posting WHERE account IN ('provider_receivable', 'merchant_pending')
                GROUP BY charge_id, account HAVING sum(amount) <> 0
            ) p ON p.charge_id = c.id
            WHERE c.settled_at IS NOT NULL AND c.settle_due_at IS NULL
        """,
    ),
    _of_charge(
        name="captured_charges_settle",
        sentence="Each captured charge is settled, or has a settlement day.",
        query="""
            SELECT id FROM charge
            WHERE captured AND status <> 'voided' AND settled_at IS NULL AND settle_due_at IS NULL
        """,
    ),
    Invariant(
        name="balances_are_the_sums",
        sentence="The running balances of each merchant, mode and currency are the sums of the postings by account.",
        model="payments.Merchant",
        prefix="mer",
        query=f"""
            SELECT merchant_id AS id FROM (
                SELECT merchant_id, livemode, currency, account, amount FROM posting
                UNION ALL
                SELECT b.merchant_id, b.livemode, b.currency, a.account, -a.amount FROM running_balance b
                CROSS JOIN LATERAL (VALUES {ACCOUNT_COLUMNS}) AS a (account, amount)
            ) AS line GROUP BY merchant_id, livemode, currency, account HAVING sum(amount) <> 0
        """,  # nosec B608 # made of constants
    ),
    Invariant(
        name="account_days_are_the_sums",
        sentence="The daily sums of each merchant's accounts are the sums of that day's postings.",
        model="payments.Merchant",
        prefix="mer",
        query="""
            SELECT merchant_id AS id FROM (
                SELECT merchant_id, livemode, currency, account, kind, (created_at AT TIME ZONE 'UTC')::date AS day,
                    amount
                FROM posting
                WHERE created_at < (SELECT max(day) + 1 FROM payments_ledgerday)::timestamp AT TIME ZONE 'UTC'
                UNION ALL
                SELECT merchant_id, livemode, currency, account, kind, day, credits - debits FROM account_day
            ) AS line GROUP BY merchant_id, livemode, currency, account, kind, day HAVING sum(amount) <> 0
        """,
    ),
    Invariant(
        name="journals_have_their_leaf",
        sentence="Each journal has a leaf of the transparency log, from two hours after it was made.",
        model="payments.Posting",
        prefix="txn",
        # The worker may be about to read the newest ones, or to look for those that it has read past.
        query="""
            SELECT p.id FROM posting p
            JOIN payments_logprogress log ON p.id <= log.posting_id
                AND p.created_at < log.looked_at - interval '2 hours'
            LEFT JOIN payments_logleaf leaf ON leaf.journal = p.journal
            WHERE p.line = 1 AND leaf.journal IS NULL
        """,
    ),
    Invariant(
        name="leaves_match_their_journal",
        sentence="Each leaf of the transparency log names the merchant and mode of its journal.",
        model="payments.Posting",
        prefix="txn",
        # No hash covers those of a leaf. Those of its postings are hashed.
        query="""
            SELECT p.id FROM payments_logleaf leaf JOIN posting p ON p.journal = leaf.journal
            WHERE p.line = 1 AND (leaf.merchant_id, leaf.livemode) <> (p.merchant_id, p.livemode)
        """,
    ),
)

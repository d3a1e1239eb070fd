"""Invariants of payouts: each is what it is made of, and no part of a balance is paid out twice or never."""

from functools import partial

from payments.invariants.history import events_of
from payments.invariants.invariant import Invariant

_of_payout = partial(Invariant, model="payments.Payout")
STANDS = "o.status NOT IN ('failed', 'cancelled')"
RESERVED = f"CASE WHEN {STANDS} AND o.reserve_due_at IS NOT NULL THEN o.reserve ELSE 0 END"


def _sums_up(account: str, total: str) -> str:
    """Return the query for payouts whose postings on `account` do not sum up to `total`, debits positive."""
    return f"""
        SELECT o.id FROM payout o
        LEFT JOIN (
            SELECT payout_id, sum(amount) AS amount FROM posting WHERE account = '{account}' GROUP BY payout_id
        ) p ON p.payout_id = o.id
        WHERE coalesce(p.amount, 0) <> {total}
    """  # nosec B608 # made of constants


INVARIANTS = (
    _of_payout(
        name="payouts_are_their_parts",
        sentence="The amount and the reserve of each payout are the sum of its parts.",
        query="""
            SELECT o.id FROM payout o
            LEFT JOIN (
                SELECT payout_id, sum(amount) AS amount FROM payout_part GROUP BY payout_id
            ) part ON part.payout_id = o.id
            WHERE coalesce(part.amount, 0) <> o.amount + o.reserve
        """,
    ),
    _of_payout(
        name="payout_parts_are_what_is_owed",
        sentence="Each part of a payout is what its settlement or posting moved to the merchant's available balance.",
        query="""
            SELECT part.payout_id AS id FROM payout_part part
            LEFT JOIN (
                SELECT settlement_id AS id, sum(amount) AS amount FROM posting
                WHERE kind = 'settle' AND account = 'merchant_payable' GROUP BY settlement_id
                UNION ALL
                SELECT id, amount FROM posting
                WHERE kind NOT IN ('settle', 'payout', 'reserve') AND account = 'merchant_payable'
            ) owed ON owed.id = part.id
            WHERE part.payout_id IS NOT NULL AND part.amount <> -coalesce(owed.amount, 0)
        """,
    ),
    _of_payout(
        name="payout_lines_add_up",
        sentence="What was posted to the balance that each payout took is what was paid of it and kept in reserve.",
        query="""
            SELECT o.id FROM payout o
            LEFT JOIN (
                SELECT part.payout_id, sum(coalesce(settled.amount, own.amount)) AS amount FROM payout_part part
                LEFT JOIN posting own ON own.id = part.id
                LEFT JOIN (
                    SELECT s.settlement_id, sum(pending.amount) AS amount FROM posting s
                    JOIN posting pending ON pending.charge_id = s.charge_id
                        AND pending.account = 'merchant_pending' AND pending.kind <> 'settle'
                    WHERE s.kind = 'settle' AND s.account = 'merchant_payable' GROUP BY s.settlement_id
                ) settled ON settled.settlement_id = part.id
                GROUP BY part.payout_id
            ) line ON line.payout_id = o.id
            WHERE coalesce(-line.amount, 0) <> o.amount + o.reserve
        """,
    ),
    Invariant(
        name="balances_are_paid_out_once",
        sentence="Every settlement, and every posting to an available balance outside of one, is one part of payouts.",
        model="payments.Merchant",
        prefix="mer",
        query="""
            SELECT owed.merchant_id AS id FROM (
                SELECT id, merchant_id, livemode, currency, true AS is_settlement FROM payments_settlement
                WHERE %(merchant)s::uuid IS NULL OR merchant_id = %(merchant)s
                UNION ALL
                SELECT id, merchant_id, livemode, currency, false FROM posting
                WHERE kind NOT IN ('settle', 'payout', 'reserve') AND account = 'merchant_payable'
            ) owed LEFT JOIN payout_part part ON part.id = owed.id
            WHERE (part.merchant_id, part.livemode, part.currency, part.is_settlement)
                IS DISTINCT FROM (owed.merchant_id, owed.livemode, owed.currency, owed.is_settlement)
        """,
    ),
    _of_payout(
        name="payouts_match_their_parts",
        sentence="Each part of a payout has the payout's merchant, mode and currency, and so does its bank account.",
        query="""
            SELECT o.id FROM payout o LEFT JOIN payments_payoutaccount a ON a.id = o.account_id
            WHERE (a.merchant_id, a.livemode, a.currency) IS DISTINCT FROM (o.merchant_id, o.livemode, o.currency)
            UNION
            SELECT part.payout_id FROM payout_part part LEFT JOIN payout o ON o.id = part.payout_id
            WHERE part.payout_id IS NOT NULL
            AND (part.merchant_id, part.livemode, part.currency)
                IS DISTINCT FROM (o.merchant_id, o.livemode, o.currency)
        """,
    ),
    _of_payout(
        name="payout_journals_balance",
        sentence="The lines of each journal of a payout add up to zero, and are of its merchant, mode and currency.",
        query="""
            SELECT payout_id AS id FROM posting WHERE payout_id IS NOT NULL
            GROUP BY payout_id, journal HAVING sum(amount) <> 0
            UNION
            SELECT p.payout_id FROM posting p LEFT JOIN payout o ON o.id = p.payout_id
            WHERE p.payout_id IS NOT NULL
            AND (p.merchant_id, p.livemode, p.currency) IS DISTINCT FROM (o.merchant_id, o.livemode, o.currency)
        """,
    ),
    _of_payout(
        name="ledger_payouts_in_transit",
        sentence="The ledger's payouts in transit are those that have not left the bank.",
        query=_sums_up(
            "payouts_in_transit", "CASE WHEN o.status IN ('pending', 'in_transit') THEN -o.amount ELSE 0 END"
        ),
    ),
    _of_payout(
        name="ledger_payouts_paid",
        sentence="The bank has paid each payout that is paid, once, and no other.",
        query=_sums_up("bank", "CASE WHEN o.status = 'paid' THEN -o.amount ELSE 0 END"),
    ),
    _of_payout(
        name="ledger_reserves",
        sentence="The ledger's reserves are those that were not released, of payouts that have not come back.",
        query=_sums_up("merchant_reserve", f"-({RESERVED})"),
    ),
    _of_payout(
        name="ledger_paid_out",
        sentence="Each payout took its amount and reserve of the available balance, and gave back what was not paid.",
        query=_sums_up("merchant_payable", f"CASE WHEN {STANDS} THEN o.amount ELSE 0 END + {RESERVED}"),
    ),
    _of_payout(
        name="payouts_go_out_by_their_requests",
        sentence="A payout is approved by one request about it that is done: by two people where one had asked for it.",
        query="""
            SELECT o.id FROM payout o JOIN payments_approvalrequest r ON r.id = o.approval_id
            WHERE (r.kind, r.state, r.subject_id, r.merchant_id, r.amount, r.currency)
                <> ('pay_out', 'done', o.id, o.merchant_id, o.amount, o.currency)
            OR r.decided_by_id IS NULL AND (o.requested_by_id IS NOT NULL OR r.limit IS NULL OR r.amount > r.limit)
            UNION
            SELECT o.id FROM payout o JOIN payments_approvalrequest r ON r.subject_id = o.id
            WHERE r.kind = 'pay_out' AND r.state = 'done' AND o.approval_id IS DISTINCT FROM r.id
        """,
    ),
    _of_payout(
        name="live_payouts_are_in_a_sent_file",
        sentence="A live payout that no provider carries out is on its way or further if it is in a sent file, and only"
        " then.",
        query="""
            SELECT o.id FROM payout o LEFT JOIN payments_payoutfile f ON f.id = o.file_id
            WHERE o.livemode AND o.provider_account_id IS NULL
            AND (o.sent_at IS NULL) <> (f.sent_at IS NULL)
        """,
    ),
    Invariant(
        name="bank_movements_are_matched_once",
        sentence="A matched movement on our bank account is one payout, file or batch, once each way, and as much.",
        model="payments.ReportLine",
        prefix=None,
        query="""
            SELECT l.id FROM payments_bankline b JOIN payments_reportline l ON l.id = b.line_id
            LEFT JOIN payout o ON o.id = b.payout_id LEFT JOIN payments_payoutfile f ON f.id = b.file_id
            LEFT JOIN payments_reportline d ON d.id = b.batch_id
            WHERE l.matched_at IS NOT NULL AND (b.is_guess OR (abs(l.amount), l.currency) IS DISTINCT FROM
                (coalesce(o.amount, f.total, -d.amount), coalesce(o.currency, f.currency, d.currency)))
            UNION ALL
            SELECT max(l.id) FROM payments_bankline b JOIN payments_reportline l ON l.id = b.line_id
            WHERE l.matched_at IS NOT NULL
            GROUP BY b.payout_id, b.file_id, b.batch_id, sign(l.amount) HAVING count(*) > 1
        """,
        of_merchants=False,
    ),
    Invariant(
        name="bank_files_are_their_payouts",
        sentence="The number and the sum of each bank file are those of its payouts, in its currency; a cancelled one"
        " has none.",
        model="payments.PayoutFile",
        prefix="pf",
        query="""
            SELECT f.id FROM payments_payoutfile f
            LEFT JOIN payout o ON o.file_id = f.id
            GROUP BY f.id
            HAVING (count(o.id), coalesce(sum(o.amount), 0)) <> (
                CASE WHEN f.cancelled_at IS NULL THEN f.count ELSE 0 END,
                CASE WHEN f.cancelled_at IS NULL THEN f.total ELSE 0 END
            ) OR bool_or(o.currency <> f.currency)
        """,
        # A file has payouts of many merchants.
        of_merchants=False,
    ),
    Invariant(
        name="bank_files_go_out_by_their_requests",
        sentence="A bank file is sent by one request about it that another than its maker approved, and only then.",
        model="payments.PayoutFile",
        prefix="pf",
        query="""
            SELECT coalesce(f.id, r.subject_id) AS id FROM payments_payoutfile f
            FULL JOIN (
                SELECT * FROM payments_approvalrequest WHERE kind = 'send_file' AND state = 'done'
            ) r ON r.subject_id = f.id
            WHERE (f.sent_at IS NULL) <> (r.id IS NULL) OR (r.amount, r.currency) <> (f.total, f.currency)
            OR r.decided_by_id IS NULL AND r.id IS NOT NULL OR r.decided_by_id = f.created_by_id
        """,
        of_merchants=False,
    ),
    events_of("payout", model="payments.Payout"),
)

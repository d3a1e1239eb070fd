"""Invariants of the simulator's books, by themselves and against ours."""

from payments.invariants.invariant import Invariant

# The references under which a provider knows an attempt and a payout.
REFERENCE = "encode(uuid_send(a.id), 'hex')"
REFERENCE_OF_PAYOUT = "encode(uuid_send(o.id), 'hex')"

INVARIANTS = (
    Invariant(
        name="simulator_agrees",
        sentence="The simulator's held, captured and refunded amounts agree with each charge in test mode.",
        model="payments.Charge",
        # The provider may be ahead of us while an attempt has no outcome or a lookup is due, or a message is not
        # delivered. Late money may have gone back by a void or a refund, so only what is left of it counts.
        query=f"""
            WITH undelivered AS (
                SELECT body::json ->> 'reference' AS reference FROM simulator_message WHERE delivered_at IS NULL
            ), open_charge AS (
                SELECT charge_id FROM payments_attempt WHERE state <> 'done' OR due_at IS NOT NULL
                UNION ALL
                SELECT a.charge_id FROM payments_attempt a JOIN undelivered u ON u.reference = {REFERENCE}
            )
            SELECT c.id FROM charge c
            JOIN payments_attempt a ON a.charge_id = c.id AND a.kind = 'authorize' AND a.provider = 'simulator'
            LEFT JOIN simulator_simulatedpayment p ON p.reference = {REFERENCE}
            WHERE NOT EXISTS (SELECT FROM open_charge o WHERE o.charge_id = c.id) AND (
                (p.amount, p.currency) <> (c.amount, c.currency)
                OR CASE WHEN c.authorized THEN c.amount ELSE 0 END
                    <> CASE WHEN p.state = 'held' THEN p.amount ELSE 0 END
                OR CASE WHEN c.status = 'voided' THEN 0 ELSE c.amount_captured - c.amount_refunded END
                    <> CASE WHEN p.state = 'captured' THEN p.amount_captured - p.amount_refunded ELSE 0 END
                OR c.authorized AND c.hold_extended_days <> p.extended_days
                OR c.status <> 'failed' AND c.amount_refunded <> coalesce(p.amount_refunded, 0)
            )
        """,  # nosec B608 # made of constants
    ),
    Invariant(
        name="simulator_disputes_agree",
        sentence="The simulator's books have taken back of each charge what our disputes say.",
        model="payments.Charge",
        query=f"""
            SELECT c.id FROM charge c
            JOIN payments_attempt a ON a.charge_id = c.id AND a.kind = 'authorize' AND a.provider = 'simulator'
            JOIN simulator_simulatedpayment p ON p.reference = {REFERENCE}
            WHERE c.amount_disputed <> p.amount_disputed AND NOT EXISTS (
                SELECT FROM simulator_message m
                WHERE m.delivered_at IS NULL AND m.body::json ->> 'reference' = p.reference
            )
        """,  # nosec B608 # made of constants
    ),
    Invariant(
        name="simulator_money_is_known",
        sentence="The simulator has no money that we never asked for, except what operators have closed.",
        model="simulator.SimulatedPayment",
        query=f"""
            SELECT p.id FROM simulator_simulatedpayment p
            LEFT JOIN payments_attempt a ON {REFERENCE} = p.reference AND a.kind = 'authorize'
            WHERE p.state IN ('held', 'captured') AND a.id IS NULL AND NOT EXISTS (
                SELECT FROM payments_reportline l JOIN payments_reconciliationitem i ON i.line_id = l.id
                WHERE l.reference = p.reference AND l.provider = 'simulator' AND i.state = 'closed'
            )
        """,  # nosec B608 # made of constants
        of_merchants=False,
    ),
    Invariant(
        name="simulator_entries_add_up",
        sentence="The entries in the simulator's books add up to the amounts of its payments.",
        model="simulator.SimulatedPayment",
        query="""
            SELECT p.id FROM simulator_simulatedpayment p
            LEFT JOIN (
                SELECT payment_id, coalesce(sum(amount) FILTER (WHERE kind = 'hold'), 0) AS held,
                    coalesce(sum(amount) FILTER (WHERE kind = 'release'), 0) AS released,
                    coalesce(sum(amount) FILTER (WHERE kind = 'capture'), 0) AS captured,
                    coalesce(sum(amount) FILTER (WHERE kind = 'void'), 0) AS voided,
                    coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0) AS refunded,
                    coalesce(sum(amount) FILTER (WHERE kind = 'refund_returned'), 0) AS returned,
                    coalesce(sum(amount) FILTER (WHERE kind = 'dispute'), 0) AS disputed,
                    coalesce(sum(amount) FILTER (WHERE kind = 'dispute_won'), 0) AS won
                FROM simulator_entry GROUP BY payment_id
            ) e ON e.payment_id = p.id
            WHERE coalesce(e.held - e.released - CASE WHEN p.capture THEN 0 ELSE e.captured END, 0)
                <> CASE WHEN p.state = 'held' THEN p.amount ELSE 0 END
            OR coalesce(e.captured - e.voided, 0) <> CASE WHEN p.state = 'captured' THEN p.amount_captured ELSE 0 END
            OR coalesce(e.refunded - e.returned, 0) <> p.amount_refunded
            OR coalesce(e.disputed - e.won, 0) <> p.amount_disputed
        """,
        of_merchants=False,
    ),
    Invariant(
        name="simulator_payouts_agree",
        sentence="The simulated bank has paid, failed and returned what our payouts in test mode say, once each.",
        model="payments.Payout",
        # The bank may be ahead of us while a payout is due to be looked up, or a message is not delivered.
        query=f"""
            SELECT o.id FROM payout o
            LEFT JOIN simulator_simulatedpayout p ON p.reference = {REFERENCE_OF_PAYOUT} AND p.state <> 'lost'
            WHERE NOT o.livemode AND (o.asked_at IS NOT NULL OR p.id IS NOT NULL) AND (
                (p.amount, p.currency) <> (o.amount, o.currency)
                OR o.due_at IS NULL AND CASE o.status
                    WHEN 'paid' THEN p.state = 'paid'
                    WHEN 'failed' THEN p.state IN ('failed', 'returned')
                    ELSE false
                END IS NOT TRUE
                AND NOT EXISTS (
                    SELECT FROM simulator_message m
                    WHERE m.delivered_at IS NULL AND m.body::json ->> 'reference' = {REFERENCE_OF_PAYOUT}
                )
            )
        """,  # nosec B608 # made of constants
    ),
    Invariant(
        name="simulator_payouts_are_known",
        sentence="The simulated bank has no payout that we never asked for.",
        model="simulator.SimulatedPayout",
        query=f"""
            SELECT p.id FROM simulator_simulatedpayout p
            LEFT JOIN payments_payout o
                ON {REFERENCE_OF_PAYOUT} = p.reference AND NOT o.livemode AND o.asked_at IS NOT NULL
            WHERE p.state <> 'lost' AND o.id IS NULL
        """,  # nosec B608 # made of constants
        of_merchants=False,
    ),
)

"""Invariants of charges, refunds and sources."""

from functools import partial

from payments.invariants.invariant import Invariant

_of_charge = partial(Invariant, model="payments.Charge")
_of_source = partial(Invariant, model="payments.Source")

# A source that was vaulted and then detached is no longer vaulted. Only its events show it, and old ones may be gone.
ONCE_VAULTED = """(s.id < (SELECT id FROM kept)
    OR EXISTS (SELECT FROM event e WHERE e.object_id = s.id AND e.type = 'source.deleted'))"""

# Its card is being checked, to be kept by a session.
UNDER_CHECK = "EXISTS (SELECT FROM checkout k WHERE k.check_source_id = s.id AND k.check_due_at IS NOT NULL)"

INVARIANTS = (
    _of_charge(
        name="amounts_within_bounds",
        sentence="No charge has more refunded or disputed than captured, or more captured than asked for.",
        query="""
            SELECT id FROM charge
            WHERE NOT (0 <= amount_refunded AND amount_refunded <= amount_captured AND amount_captured <= amount
                AND 0 <= amount_disputed AND amount_disputed <= amount_captured)
        """,
    ),
    _of_charge(
        name="flags_match_status",
        sentence="Each charge's status agrees with its flags authorized and captured, and with its captured amount.",
        query="""
            SELECT id FROM charge
            WHERE captured <> (amount_captured > 0) OR NOT CASE status
                WHEN 'pending' THEN NOT authorized AND NOT captured
                WHEN 'failed' THEN NOT authorized AND NOT captured
                WHEN 'succeeded' THEN authorized <> captured
                WHEN 'refunded' THEN captured AND NOT authorized
                WHEN 'voided' THEN NOT authorized
                ELSE false END
        """,
    ),
    _of_charge(
        name="refunded_means_all",
        sentence="A charge has the status refunded exactly while all that was captured is refunded or on its way back.",
        query="""
            SELECT id FROM charge
            WHERE (status = 'refunded') <> (amount_refunded > 0 AND amount_refunded = amount_captured)
        """,
    ),
    _of_charge(
        name="refunds_add_up",
        sentence="The refunded amount of each charge is the sum of its refunds that are pending or succeeded.",
        query="""
            SELECT c.id FROM charge c
            LEFT JOIN (
                SELECT charge_id, sum(amount) AS amount FROM refund WHERE status <> 'failed' GROUP BY charge_id
            ) r ON r.charge_id = c.id
            WHERE c.amount_refunded <> coalesce(r.amount, 0)
        """,
    ),
    _of_charge(
        name="disputes_add_up",
        sentence="What payers' banks have of each charge is the sum of what is withdrawn by its disputes.",
        query="""
            SELECT c.id FROM charge c
            LEFT JOIN (
                SELECT charge_id, sum(amount_withdrawn) AS amount FROM dispute GROUP BY charge_id
            ) d ON d.charge_id = c.id
            WHERE c.disputed <> (d.charge_id IS NOT NULL) OR c.amount_disputed <> coalesce(d.amount, 0)
        """,
    ),
    Invariant(
        name="disputes_match_their_charge",
        sentence="Each dispute has its charge's merchant and mode, and the currency, unless nothing of it is posted.",
        model="payments.Dispute",
        query="""
            SELECT d.id FROM dispute d LEFT JOIN charge c ON c.id = d.charge_id
            WHERE (d.merchant_id, d.livemode) IS DISTINCT FROM (c.merchant_id, c.livemode)
            OR d.amount_withdrawn > 0 AND d.currency IS DISTINCT FROM c.currency
        """,
    ),
    Invariant(
        name="disputes_hold_what_was_reported",
        sentence="What payers' banks have by each dispute is no more than what its stages took, in all.",
        model="payments.Dispute",
        query="""
            SELECT d.id FROM dispute d
            WHERE d.amount_withdrawn > coalesce((
                SELECT max(amount::bigint) FROM jsonb_each_text(d.stage_amounts) AS stage (number, amount)
            ), 0)
            OR NOT d.withdrawn AND d.amount_withdrawn <> 0
        """,
    ),
    Invariant(
        name="refunds_match_their_charge",
        sentence="Each refund has its charge's merchant, mode and currency.",
        model="payments.Refund",
        query="""
            SELECT r.id FROM refund r LEFT JOIN charge c ON c.id = r.charge_id
            WHERE (r.merchant_id, r.livemode, r.currency) IS DISTINCT FROM (c.merchant_id, c.livemode, c.currency)
        """,
    ),
    _of_charge(
        name="charges_match_their_source",
        sentence="Each charge has its source's merchant and mode.",
        query="""
            SELECT c.id FROM charge c LEFT JOIN source s ON s.id = c.source_id
            WHERE (c.merchant_id, c.livemode) IS DISTINCT FROM (s.merchant_id, s.livemode)
        """,
    ),
    _of_charge(
        name="fees_follow_the_rate",
        sentence="The fee of each captured charge follows from its rate and captured amount; others have none.",
        query="""
            SELECT id FROM charge
            WHERE fee <> CASE WHEN captured
                THEN least(amount_captured, (amount_captured * fee_basis_points + 5000) / 10000 + fee_fixed) ELSE 0 END
        """,
    ),
    _of_source(
        name="cards_match_their_source",
        sentence="Each card has its source's merchant.",
        query="""
            SELECT s.id FROM source s JOIN payments_card k ON k.source_id = s.id WHERE k.merchant_id <> s.merchant_id
        """,
    ),
    _of_source(
        name="one_charge_per_source",
        sentence="A source has one charge, unless it was vaulted before it, or with it by a subscription.",
        query=f"""
            SELECT s.id FROM source s
            JOIN (
                SELECT h.source_id, bool_or(h.single_use AND k.id IS NULL) OR count(*) FILTER (WHERE h.single_use) > 1
                    AS single_use
                FROM charge h LEFT JOIN checkout k ON k.id = h.checkout_id AND k.mode = 'subscription'
                GROUP BY h.source_id HAVING count(*) > 1
            ) c ON c.source_id = s.id
            WHERE c.single_use OR NOT s.vaulted AND NOT {ONCE_VAULTED}
        """,  # nosec B608 # made of constants
    ),
    _of_source(
        name="used_sources_have_their_charge",
        sentence="Each used source has its charge or is being checked to be kept, and each charge's source is used.",
        query=f"""
            SELECT s.id FROM source s
            LEFT JOIN (SELECT DISTINCT source_id FROM charge) c ON c.source_id = s.id
            WHERE CASE
                WHEN s.used THEN c.source_id IS NULL AND NOT s.vaulted AND NOT {ONCE_VAULTED} AND NOT {UNDER_CHECK}
                ELSE c.source_id IS NOT NULL END
        """,  # nosec B608 # made of constants
    ),
)

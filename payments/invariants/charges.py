"""Charges, refunds and sources, each by itself and with each other."""

from functools import partial

from payments.invariants.invariant import Invariant

_of_charge = partial(Invariant, model="payments.Charge", prefix="ch")
_of_source = partial(Invariant, model="payments.Source", prefix="src")

# A source that was kept for reuse and given up again is neither kept nor unused, and only its history tells, which an
# old one may have lost.
ONCE_KEPT = """(s.id < (SELECT id FROM kept)
    OR EXISTS (SELECT FROM event e WHERE e.object_id = s.id AND e.type = 'source.deleted'))"""

AMOUNTS_WITHIN_BOUNDS = _of_charge(
    name="amounts_within_bounds",
    sentence="No charge has more refunded than captured, or more captured than asked for.",
    query="""
        SELECT id FROM charge
        WHERE NOT (0 <= amount_refunded AND amount_refunded <= amount_captured AND amount_captured <= amount)
    """,
)
FLAGS_MATCH_STATUS = _of_charge(
    name="flags_match_status",
    sentence="Held, captured and the captured amount say the same of each charge as its status.",
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
)
REFUNDED_MEANS_ALL = _of_charge(
    name="refunded_means_all",
    sentence="A charge is refunded exactly while all that was captured is refunded or on its way back.",
    query="""
        SELECT id FROM charge
        WHERE (status = 'refunded') <> (amount_refunded > 0 AND amount_refunded = amount_captured)
    """,
)
REFUNDS_ADD_UP = _of_charge(
    name="refunds_add_up",
    sentence="The refunded amount of each charge is the sum of its refunds that are pending or succeeded.",
    query="""
        SELECT c.id FROM charge c
        LEFT JOIN (
            SELECT charge_id, sum(amount) AS amount FROM refund WHERE status <> 'failed' GROUP BY charge_id
        ) r ON r.charge_id = c.id
        WHERE c.amount_refunded <> coalesce(r.amount, 0)
    """,
)
REFUNDS_MATCH_THEIR_CHARGE = Invariant(
    name="refunds_match_their_charge",
    sentence="Each refund is of its charge's merchant, mode and currency.",
    model="payments.Refund",
    prefix="re",
    query="""
        SELECT r.id FROM refund r LEFT JOIN charge c ON c.id = r.charge_id
        WHERE (r.merchant_id, r.livemode, r.currency) IS DISTINCT FROM (c.merchant_id, c.livemode, c.currency)
    """,
)
CHARGES_MATCH_THEIR_SOURCE = _of_charge(
    name="charges_match_their_source",
    sentence="Each charge is of its source's merchant and mode.",
    query="""
        SELECT c.id FROM charge c LEFT JOIN source s ON s.id = c.source_id
        WHERE (c.merchant_id, c.livemode) IS DISTINCT FROM (s.merchant_id, s.livemode)
    """,
)
FEES_FOLLOW_THE_RATE = _of_charge(
    name="fees_follow_the_rate",
    sentence="The fee of each captured charge is what its rate makes of the captured amount, of others nothing.",
    query="""
        SELECT id FROM charge
        WHERE fee <> CASE WHEN captured
            THEN least(amount_captured, (amount_captured * fee_basis_points + 5000) / 10000 + fee_fixed) ELSE 0 END
    """,
)
ONE_CHARGE_PER_SOURCE = _of_source(
    name="one_charge_per_source",
    sentence="A source that was never kept for reuse carries one charge at most.",
    query=f"""
        SELECT s.id FROM source s
        JOIN (
            SELECT source_id, bool_or(single_use) AS single_use FROM charge GROUP BY source_id HAVING count(*) > 1
        ) c ON c.source_id = s.id
        WHERE c.single_use OR NOT s.vaulted AND NOT {ONCE_KEPT}
    """,  # nosec B608 # made of constants
)
USED_SOURCES_HAVE_THEIR_CHARGE = _of_source(
    name="used_sources_have_their_charge",
    sentence="Each source that is used up has its charge, and each charge's source is used.",
    query=f"""
        SELECT s.id FROM source s
        LEFT JOIN (SELECT DISTINCT source_id FROM charge) c ON c.source_id = s.id
        WHERE CASE WHEN s.used THEN c.source_id IS NULL AND NOT s.vaulted AND NOT {ONCE_KEPT}
            ELSE c.source_id IS NOT NULL END
    """,  # nosec B608 # made of constants
)
INVARIANTS = (
    AMOUNTS_WITHIN_BOUNDS,
    FLAGS_MATCH_STATUS,
    REFUNDED_MEANS_ALL,
    REFUNDS_ADD_UP,
    REFUNDS_MATCH_THEIR_CHARGE,
    CHARGES_MATCH_THEIR_SOURCE,
    FEES_FOLLOW_THE_RATE,
    ONE_CHARGE_PER_SOURCE,
    USED_SOURCES_HAVE_THEIR_CHARGE,
)

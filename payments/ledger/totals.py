"""The totals of settlements."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from payments.models import Settlement

# A charge's capture and fee count in its first settlement, the one posted at its `settled_at`; the fees of its disputes
# in the one that follows them.
SUM_UP = """
SELECT settlement_id, count(*) AS charges, sum(gross)::bigint AS gross, sum(gross - bank)::bigint AS refunds,
    sum(fee)::bigint AS fees, sum(bank - fee)::bigint AS net
FROM (
    SELECT p.settlement_id, coalesce(sum(p.amount) FILTER (WHERE p.account = 'bank'), 0) AS bank,
        CASE WHEN c.settled_at = min(p.created_at) THEN c.amount_captured ELSE 0 END AS gross,
        CASE WHEN c.settled_at = min(p.created_at) THEN c.fee ELSE 0 END + CASE WHEN c.disputed THEN (
            SELECT coalesce(-sum(f.amount), 0) FROM payments_posting f
            WHERE f.charge_id = c.id AND f.kind = 'dispute_fee' AND f.account = 'fees'
            AND f.created_at <= min(p.created_at) AND f.created_at > coalesce((
                SELECT max(s.created_at) FROM payments_posting s
                WHERE s.charge_id = c.id AND s.kind = 'settle' AND s.created_at < min(p.created_at)
            ), '-infinity')
        ) ELSE 0 END AS fee
    FROM payments_posting p JOIN payments_charge c ON c.id = p.charge_id
    WHERE p.settlement_id = ANY({settlements}) GROUP BY p.settlement_id, c.id, c.merchant_id
) AS of_charge GROUP BY settlement_id
"""
# As they were summed up after their day, or else now.
OF_SOME = """
SELECT settlement_id, charges, gross, refunds, fees, net FROM payments_settlementtotal
WHERE settlement_id = ANY(%(settlements)s)
UNION ALL
""" + SUM_UP.format(
    settlements="""ARRAY(
        SELECT id FROM unnest(%(settlements)s::uuid[]) AS id
        WHERE NOT EXISTS (SELECT FROM payments_settlementtotal t WHERE t.settlement_id = id)
    )"""
)  # nosec B608 # of constants
# A settlement's ID is made on its day, or just after it.
OF_DAY = SUM_UP.format(
    settlements="""ARRAY(
        SELECT id FROM payments_settlement WHERE id >= %(first_id)s AND id < %(next_id)s AND day = %(day)s
    )"""
)


@dataclass(frozen=True, slots=True)
class Totals:
    """The captures, refunds, our fees and the net amount of one settlement, in its currency.

    A refund counts in the settlement after the provider paid it; one that failed afterwards is added back. Money of
    disputes counts among the refunds: what the payer's bank took, less what came back.
    """

    charges: int = 0
    gross: int = 0
    refunds: int = 0
    fees: int = 0
    net: int = 0

    @property
    def amounts(self) -> tuple[int, int, int, int]:
        """Return gross, refunds, fees and net."""
        return self.gross, self.refunds, self.fees, self.net

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(self.charges + other.charges, *map(sum, zip(self.amounts, other.amounts, strict=True)))


def sums_of(settlements: Collection[Settlement]) -> Mapping[tuple[bool, str], Totals]:
    """Return the sums of the totals of `settlements`, by mode and currency."""
    totals, found = totals_of(settlements), defaultdict[tuple[bool, str], Totals](Totals)
    for settlement in settlements:
        found[settlement.livemode, settlement.currency] += totals[settlement.id]
    return found


def totals_of(settlements: Collection[Settlement]) -> Mapping[UUID, Totals]:
    """Return the totals of each of `settlements`, by ID: as they were summed up after its day, or else now."""
    with connection.cursor() as cursor:
        cursor.execute(OF_SOME, {"settlements": [settlement.id for settlement in settlements]})
        found = {settlement_id: Totals(*map(int, sums)) for settlement_id, *sums in cursor.fetchall()}
    return {settlement.id: found.get(settlement.id, Totals()) for settlement in settlements}

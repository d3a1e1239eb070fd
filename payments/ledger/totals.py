"""The totals of settlements."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from payments.models import Settlement

# A charge's capture and fee count in its first settlement, the one posted at its `settled_at`.
SUM_UP = """
SELECT settlement_id, count(*), sum(gross), sum(gross - bank), sum(fee), sum(bank - fee)
FROM (
    SELECT p.settlement_id, coalesce(sum(p.amount) FILTER (WHERE p.account = 'bank'), 0) AS bank,
        CASE WHEN c.settled_at = min(p.created_at) THEN c.amount_captured ELSE 0 END AS gross,
        CASE WHEN c.settled_at = min(p.created_at) THEN c.fee ELSE 0 END AS fee
    FROM payments_posting p JOIN payments_charge c ON c.id = p.charge_id
    WHERE p.settlement_id = ANY(%s) GROUP BY p.settlement_id, c.id
) AS of_charge GROUP BY settlement_id
"""


@dataclass(frozen=True, slots=True)
class Totals:
    """The captures, refunds, our fees and the net amount of one settlement, in its currency.

    A refund counts in the settlement after the provider paid it; one that failed afterwards is added back.
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


def totals_of(settlements: Collection[Settlement]) -> Mapping[UUID, Totals]:
    """Return the totals of each of `settlements`, by ID."""
    with connection.cursor() as cursor:
        cursor.execute(SUM_UP, [[settlement.id for settlement in settlements]])
        found = {settlement_id: Totals(*map(int, sums)) for settlement_id, *sums in cursor.fetchall()}
    return {settlement.id: found.get(settlement.id, Totals()) for settlement in settlements}

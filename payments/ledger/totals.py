"""What a settlement amounts to."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from payments.models import Settlement

# A charge is settled first by the settlement that was posted at its `settled_at`: then its capture and its fee count.
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
    """Of one settlement, in its currency: what was captured, what of it providers paid back, our fees, what is left.

    A refund counts in the settlement after the provider paid it, and one that failed afterwards counts back.
    """

    charges: int = 0
    gross: int = 0
    refunds: int = 0
    fees: int = 0
    net: int = 0

    @property
    def amounts(self) -> tuple[int, int, int, int]:
        """Gross, refunds, fees and net."""
        return self.gross, self.refunds, self.fees, self.net


def totals_of(settlements: Collection[Settlement]) -> Mapping[UUID, Totals]:
    """The totals of each of `settlements`, by ID."""
    with connection.cursor() as cursor:
        cursor.execute(SUM_UP, [[settlement.id for settlement in settlements]])
        found = {settlement_id: Totals(*map(int, sums)) for settlement_id, *sums in cursor.fetchall()}
    return {settlement.id: found.get(settlement.id, Totals()) for settlement in settlements}

"""The balances of a merchant's accounts."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections

from payments.db.numbered_cursor import send
from payments.money import DEFAULT_CURRENCY


@dataclass(slots=True)
class Balance:
    """Amounts of one currency in its smallest unit; negative where the merchant owes.

    `available` is settled, `pending` is captured and not settled, both less fees and all requested refunds; `reserved`
    was kept of payouts; `held` can still be captured; `on_its_way` is of payouts that no bank has paid yet.
    """

    available: int = 0
    pending: int = 0
    reserved: int = 0
    held: int = 0
    on_its_way: int = 0


# The accounts of a balance, in the order of its members.
SHOWN = ("merchant_payable", "merchant_pending", "merchant_reserve", "merchant_hold", "payouts_in_transit")
SUMS = f"""
SELECT currency, {", ".join(f"sum({account})" for account in SHOWN)} FROM payments_runningbalance
WHERE merchant_id = %s AND livemode = %s GROUP BY currency
"""  # nosec B608 # made of constants


def balances_of(merchant_id: UUID, livemode: bool) -> Mapping[str, Balance]:
    """Return the merchant's balance in each currency that it ever used, and at least in the default one.

    This reads the running balances: at most 16 rows for a currency, however many postings there are.
    """
    balances = {DEFAULT_CURRENCY: Balance()}
    for currency, *totals in send(connections[DEFAULT_DB_ALIAS], SUMS, [merchant_id, livemode]).fetchall():
        # A debt to the merchant is a credit, so it is negative in the ledger.
        balances[currency] = Balance(*(-int(total) for total in totals))
    return dict(sorted(balances.items()))

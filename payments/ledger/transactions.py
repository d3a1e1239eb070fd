"""Pages of the postings that a merchant's balance is made of, newest first; each reads few rows more than it returns.

The time of an ID is that of its posting to the millisecond, so bounds of the ID are bounds of the time.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from payments.db.row_mapper import instances
from payments.db.scoped_queryset import FIRST_ID, LAST_ID
from payments.models import Payout, PayoutPart, Posting

Account = Posting.Account
# What `/v2/balance/` shows as pending, available and reserved.
ACCOUNTS: tuple[str, ...] = (Account.MERCHANT_PENDING, Account.MERCHANT_PAYABLE, Account.MERCHANT_RESERVE)

# Each account and currency has an index, or a part of one, in the order of the IDs. Bounds as rows keep the planner on
# it where a merchant went quiet.
OF_ACCOUNT = """(
    SELECT id FROM payments_posting WHERE account = '{account}' AND merchant_id = %(merchant_id)s
    AND (merchant_id, livemode, currency, id) < (%(merchant_id)s, %(livemode)s, used.currency, %(below)s)
    AND (merchant_id, livemode, currency, id) >= (%(merchant_id)s, %(livemode)s, used.currency, %(above)s)
    ORDER BY merchant_id DESC, livemode DESC, currency DESC, id DESC LIMIT %(length)s
)"""
OF_MERCHANT = """
SELECT * FROM payments_posting WHERE merchant_id = %(merchant_id)s AND livemode = %(livemode)s AND id IN (
    SELECT found.id FROM (
        SELECT DISTINCT currency FROM payments_runningbalance
        WHERE merchant_id = %(merchant_id)s AND livemode = %(livemode)s
        AND (%(currency)s::text IS NULL OR currency = %(currency)s::text)
    ) AS used CROSS JOIN LATERAL ({accounts}) AS found ORDER BY found.id DESC LIMIT %(length)s
) ORDER BY id DESC
"""
# All of one charge or payout are few, and read before they are ordered; else the planner may walk the primary key.
OF_OBJECT = """
WITH own AS MATERIALIZED (
    SELECT * FROM payments_posting WHERE {column} = %(object_id)s AND merchant_id = %(merchant_id)s
)
SELECT * FROM own WHERE merchant_id = %(merchant_id)s AND livemode = %(livemode)s AND account = ANY(%(accounts)s)
AND (%(currency)s::text IS NULL OR currency = %(currency)s::text) AND id >= %(above)s AND id < %(below)s
ORDER BY id DESC LIMIT %(length)s
"""
# By the index of those that a payout took, which PostgreSQL does not see in a bound as a row alone.
NEXT_PARTS = """
SELECT id FROM payments_payoutpart
WHERE merchant_id = %(merchant_id)s AND livemode = %(livemode)s AND payout_id IS NOT NULL
AND (payout_id, id) <= (%(payout_id)s, %(below_part)s) AND (payout_id, id) >= (%(payout_id)s, %(first)s)
ORDER BY payout_id DESC, id DESC LIMIT %(most_parts)s
"""
# What some parts stand for, in their order.
OF_PARTS = """
SELECT payments_posting.* FROM payments_posting JOIN (
    SELECT part.id AS part_id, found.id AS posting_id FROM (
        SELECT id, is_settlement FROM payments_payoutpart
        WHERE merchant_id = %(merchant_id)s AND livemode = %(livemode)s AND id = ANY(%(parts)s)
    ) AS part CROSS JOIN LATERAL (
        (
            SELECT id FROM payments_posting
            WHERE merchant_id = %(merchant_id)s AND livemode = %(livemode)s
            AND account = 'merchant_payable' AND settlement_id IS NOT NULL
            AND (settlement_id, id) < (
                part.id, CASE WHEN part.id < %(below_part)s THEN %(last)s::uuid ELSE %(below)s END
            )
            AND (settlement_id, id) >= (part.id, %(first)s) AND part.is_settlement
            ORDER BY settlement_id DESC, id DESC LIMIT %(length)s
        )
        UNION ALL SELECT part.id WHERE NOT part.is_settlement AND part.id < %(below_part)s
    ) AS found ORDER BY part.id DESC, found.id DESC LIMIT %(length)s
) AS page ON page.posting_id = payments_posting.id
WHERE payments_posting.merchant_id = %(merchant_id)s AND livemode = %(livemode)s
ORDER BY page.part_id DESC, page.posting_id DESC
"""

# What was posted to the balance that a payout took. A settlement makes all available that its charges have posted as
# pending: one that is settled posts to the available balance alone.
OF_PAYOUT = """
WITH part AS (
    SELECT id, is_settlement FROM payments_payoutpart WHERE merchant_id = %(merchant_id)s AND payout_id = %(payout_id)s
)
SELECT kind, sum(amount), count(*) FROM (
    SELECT own.kind, -own.amount AS amount FROM part JOIN payments_posting own ON own.id = part.id
    WHERE own.merchant_id = %(merchant_id)s AND NOT part.is_settlement
    UNION ALL
    SELECT own.kind, -own.amount FROM part
    JOIN payments_posting settled ON settled.settlement_id = part.id AND settled.account = 'merchant_payable'
    JOIN payments_posting own ON own.charge_id = settled.charge_id AND own.merchant_id = settled.merchant_id
        AND own.account = 'merchant_pending' AND own.kind <> 'settle'
    WHERE settled.merchant_id = %(merchant_id)s AND part.is_settlement
) AS line GROUP BY kind
"""


class Moved(NamedTuple):
    """What postings of one kind added to a balance, and how many they are."""

    amount: int
    postings: int


def moved_of(payout: Payout) -> dict[str, Moved]:
    """Return by kind what was posted to the balance that the payout took; it adds up to its amount and reserve."""
    with connection.cursor() as cursor:
        cursor.execute(OF_PAYOUT, {"merchant_id": payout.merchant_id, "payout_id": payout.id})
        return {kind: Moved(int(amount), postings) for kind, amount, postings in cursor.fetchall()}


def of_merchant(
    *,
    merchant_id: UUID,
    livemode: bool,
    length: int,
    below: UUID = LAST_ID,
    above: UUID = FIRST_ID,
    accounts: Sequence[str] = ACCOUNTS,
    currency: str | None = None,
    charge: UUID | None = None,
    payout: UUID | None = None,
) -> list[Posting]:
    """Return the newest postings on some of ACCOUNTS with an ID in `above` <= ID < `below`.

    Those of one currency or all, and of one charge or payout or all.
    """
    values: dict[str, Any] = {"merchant_id": merchant_id, "livemode": livemode, "length": length, "currency": currency}
    values |= {"below": below, "above": above}
    for column, object_id in (("charge_id", charge), ("payout_id", payout)):
        if object_id is not None:
            own = {"object_id": object_id, "accounts": list(accounts)}
            return _rows(OF_OBJECT.format(column=column), values | own)
    return _rows(_of_merchant(tuple(accounts)), values)


def of_parts(payout: Payout, length: int, after: Posting | None = None) -> list[Posting]:
    """Return the postings that a payout is made of, by its parts, the newest first; those that follow `after`."""
    values: dict[str, Any] = {"merchant_id": payout.merchant_id, "livemode": payout.livemode, "payout_id": payout.id}
    values |= {"most_parts": length, "first": FIRST_ID, "last": LAST_ID}
    values |= {"below_part": part_of(after), "below": after.id} if after else {"below_part": LAST_ID, "below": LAST_ID}
    found: list[Posting] = []
    while True:
        parts = [part.id for part in PayoutPart.objects.raw(NEXT_PARTS, values)]
        found += _rows(OF_PARTS, values | {"parts": parts, "length": length - len(found)})
        # Only settlements that owe the merchant nothing stand for no posting, so that further parts are needed.
        if len(found) == length or len(parts) < length:
            return found
        values |= {"below_part": parts[-1], "below": FIRST_ID}


def find_in_parts(payout: Payout, posting_id: UUID) -> Posting | None:
    """Return one of the postings that a payout is made of, None if it is none of them."""
    own = (payout.merchant_id, payout.livemode)
    posting = Posting.objects.of(*own).filter(id=posting_id, account=Account.MERCHANT_PAYABLE).first()
    is_part = posting and PayoutPart.objects.of(*own).filter(id=part_of(posting), payout=payout.id).exists()
    return posting if is_part else None


def part_of(posting: Posting) -> UUID:
    """Return the ID of the part of payouts that a posting on an available balance belongs to."""
    return posting.settlement_id or posting.id


@cache
def _of_merchant(accounts: tuple[str, ...]) -> str:
    if not set(accounts) <= set(ACCOUNTS):
        raise ValueError(f"A balance has no account among {accounts}.")
    paths = " UNION ALL ".join(OF_ACCOUNT.format(account=account) for account in accounts)
    return OF_MERCHANT.format(accounts=paths)


def _rows(sql: str, values: Mapping[str, Any]) -> list[Posting]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return instances(Posting, [column.name for column in cursor.description], cursor.fetchall())

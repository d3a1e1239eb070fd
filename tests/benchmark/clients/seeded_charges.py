"""Charges that are there before anything is measured, of several merchants."""

from dataclasses import replace
from math import ceil

from django.db import connection

from payments.domain.merchants.merchants import create_merchant
from payments.ids import new_id, public_id
from payments.models import Attempt, Card, Charge, Event, IdempotencyRecord, Posting, Source
from tests.benchmark.clients.client import PAGE, Client, Seeded
from tests.copies import Table, multiply

ORIGINALS = 1000
MERCHANTS = 5
# Of all copies, by their age: the oldest are of the merchant that went quiet, and of the others half are of ours.
QUIET_SHARE = 0.02
OWNER = """
CREATE FUNCTION pg_temp.owner(number int) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN number > {quiet_from} THEN '{quiet}'::uuid
        WHEN number % 2 = 0 THEN '{ours}'::uuid
        ELSE ('{{{others}}}'::uuid[])[1 + number / 2 % {count}]
    END
$$
"""
OWNED = {"merchant_id": "pg_temp.owner(number)"}
TABLES = (
    Table(IdempotencyRecord, placed=OWNED | {"key": "key || '-' || number"}),
    Table(Source, placed=OWNED),
    # Each is another payer's card.
    Table(Card, ("id", "source_id"), {"fingerprint": "sha256(fingerprint || number::text::bytea)"}),
    Table(Charge, ("id", "source_id"), OWNED),
    Table(Attempt, ("id", "charge_id", "idempotency_id")),
    Table(Event, ("id", "object_id"), OWNED),
    Table(Posting, ("id", "journal", "charge_id", "attempt_id"), OWNED),
)


def seed(client: Client, charges: int) -> Seeded:
    """Put about so many charges below those to come, with all that goes with each but the simulator's books."""
    # The quickstart has taken a payment of its own, which is not copied.
    after = new_id()
    originals = client.charged(min(ORIGINALS, charges))
    copies = charges // len(originals)
    ours = Charge.objects.values_list("merchant_id", flat=True)[0]
    others = [create_merchant(f"Shop {number}") for number in range(MERCHANTS)]
    quiet = others.pop()
    owners = {"ours": ours, "quiet": quiet.merchant.id, "others": ",".join(str(one.merchant.id) for one in others)}
    with connection.cursor() as cursor:
        cursor.execute(OWNER.format(quiet_from=copies - ceil(copies * QUIET_SHARE), count=len(others), **owners))
    multiply(copies, [replace(table, condition=f"id > '{after}'") for table in TABLES])
    rows = Charge.objects.filter(merchant_id=ours).order_by("id").values_list("id", flat=True)
    middle, before_last = rows[rows.count() // 2], rows[PAGE]
    return Seeded(
        middle=public_id("ch", middle),
        before_last=public_id("ch", before_last),
        quiet_key=quiet.keys["sk_test"],
        charges=copies * len(originals),
    )

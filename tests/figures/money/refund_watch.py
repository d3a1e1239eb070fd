"""Looks all the time, while others are at work, for a charge with more refunded than captured."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

# Each count is one statement, so all of it is seen at one moment.
OVER = """
SELECT
    (SELECT count(*) FROM payments_charge WHERE amount_refunded > amount_captured)
    + (SELECT count(*) FROM payments_charge c JOIN (
        SELECT charge_id, sum(amount) AS amount FROM payments_refund WHERE status <> 'failed' GROUP BY charge_id
    ) r ON r.charge_id = c.id WHERE r.amount > c.amount_captured)
    + (SELECT count(*) FROM (
        SELECT sum(CASE kind WHEN 'refund' THEN amount WHEN 'refund_returned' THEN -amount ELSE 0 END) AS given_back,
            sum(CASE kind WHEN 'capture' THEN amount ELSE 0 END) AS taken
        FROM simulator_entry GROUP BY payment_id
    ) books WHERE given_back > taken)
"""


# Leaves the others a processor to work on.
PAUSE_SECONDS = 0.01


@dataclass
class Watch:
    """How often somebody looked, and how many charges were over then, in our rows or in the provider's books."""

    samples: int = 0
    over: int = 0


@contextmanager
def watch() -> Iterator[Watch]:
    """Look from a thread of its own until the block ends."""
    seen, ended = Watch(), threading.Event()
    thread = threading.Thread(target=_look, args=(seen, ended))
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def _look(seen: Watch, ended: threading.Event) -> None:
    try:
        while not ended.is_set():
            with connection.cursor() as cursor:
                cursor.execute(OVER)
                seen.over += cursor.fetchone()[0]
            seen.samples += 1
            ended.wait(PAUSE_SECONDS)
    finally:
        connection.close()

"""Whether autovacuum keeps up with charges, captures, refunds and callbacks that come without a pause."""

import sys
import time
from typing import Any
from urllib.parse import urlsplit

from django.db import connection

from payments.domain.merchants.merchants import create_merchant
from payments.embedded.folders import Folders
from payments.embedded.processes import wait_until
from payments.quickstart.payment import REFUNDED
from tests.benchmark.clients.client import Client, Load
from tests.benchmark.figures import Stretch, percentile
from tests.support.receiver import receiver_process
from tests.support.web import web_process
from tests.support.worker import Worker, nothing_waits

CONNECTIONS = 16
CHARGES = 1_000
# Of tables that are large enough to be slowed down by it.
ROWS_MIN = 10_000
DRAIN_SECONDS = 600
# A month of rows counts as its table.
TABLES = """
    SELECT coalesce(parent.relname, part.relname), sum(n_live_tup)::bigint, sum(n_dead_tup)::bigint,
        sum(autovacuum_count)::bigint, sum(autoanalyze_count)::bigint,
        sum(pg_total_relation_size(part.oid))::bigint / 1048576
    FROM pg_stat_user_tables statistics
    JOIN pg_class part ON part.oid = statistics.relid
    LEFT JOIN pg_inherits ON inhrelid = part.oid
    LEFT JOIN pg_class parent ON parent.oid = inhparent
    WHERE part.relkind = 'r' GROUP BY 1
"""


def vacuum(folders: Folders, minutes: int, stretches: int) -> dict[str, object]:
    """Charge for `minutes` in so many `stretches`, with a worker that delivers the webhooks.

    Return of each stretch how many charges a second there were and how long they took, with the largest share of dead
    rows in a table at its end, and the final state of each large table.
    """
    worker = Worker(folders.data)
    key = create_merchant("Sari Store").keys["sk_test"]
    with web_process(folders.data) as (url, _), receiver_process() as receiver:
        load = Load(folders.data, CONNECTIONS)
        client = Client(load, urlsplit(url).port or 0, key, receiver=receiver)
        worker.start()
        try:
            shown = [_stretch(client, minutes * 60 / stretches) for _ in range(stretches)]
            delivered = wait_until(nothing_waits, DRAIN_SECONDS)
        finally:
            worker.kill()
    return {"charges": len(client.charges), "delivered": delivered, "stretches": shown, "tables": _tables()}


def _stretch(client: Client, seconds: float) -> dict[str, float]:
    answers: list[Stretch] = []
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at:
        answers += _trade(client)
    latencies = [latency for answer in answers for latency in answer.latencies_seconds]
    figures = {
        "per_second": round(len(latencies) / sum(answer.seconds for answer in answers)),
        "p50_ms": round(1000 * percentile(latencies, 50), 1),
        "p99_ms": round(1000 * percentile(latencies, 99), 1),
        "most_dead": max((table["dead"] for table in _tables().values()), default=0),
    }
    print(f"{len(client.charges)} charges: {figures}", file=sys.stderr)
    return figures


def _trade(client: Client) -> list[Stretch]:
    """Make charges: a fourth are held and then captured, a fourth voided and a fourth refunded in part."""
    sources = client.sources(CHARGES, redirect=client.redirect)
    held = client.send(client.new_charges(sources[: CHARGES // 2], capture=False))
    taken = client.send(client.new_charges(sources[CHARGES // 2 :]))
    some = CHARGES // 4
    later = [*client.operations(held.ids[:some], "capture", {}), *client.operations(held.ids[some:], "void", {})]
    client.send([*later, *client.operations(taken.ids[:some], "refund", {"amount": REFUNDED})])
    client.charges += [*held.ids, *taken.ids]
    return [held, taken]


def _tables() -> dict[str, dict[str, Any]]:
    """Return of each large table its rows, the share of dead ones, how often it was vacuumed, and its size."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        return {
            name: {
                "rows": live,
                "dead": round(dead / (live + dead), 3),
                "vacuumed": vacuumed,
                "analyzed": analyzed,
                "megabytes": megabytes,
            }
            for name, live, dead, vacuumed, analyzed, megabytes in sorted(cursor.fetchall())
            if live >= ROWS_MIN
        }

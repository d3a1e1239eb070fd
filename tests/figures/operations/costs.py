"""What a million captured charges cost: processor time, disk, log of PostgreSQL and network, from some thousands."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import psutil
from django.db import connection

from payments.domain.merchants.merchants import create_merchant
from payments.embedded.folders import Folders
from payments.embedded.processes import wait_until
from payments.models import Webhook
from payments.quickstart.ports import HOST
from tests.benchmark.clients.client import Client, Load
from tests.benchmark.figures import cpu_seconds
from tests.ledger.books import charge_fees
from tests.support.receiver import receiver_process
from tests.support.relay import RelayProcess, relay_process
from tests.support.web import web_process
from tests.support.worker import Worker, nothing_waits

CONNECTIONS = 8
WARM_UP_CHARGES = 200
DELIVERY_TIMEOUT_SECONDS = 600
MILLION = 1_000_000
GIGABYTE = 10**9
HOUR_SECONDS = 3600
SIZE = """
SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


def costs(folders: Folders, charges: int) -> dict[str, object]:
    """Make, capture and report `charges`, each of a source of its own and under a key, and return what a million cost.

    A receiver takes the webhooks of each. Processor time is in hours of one core, all else in gigabytes. Relays count
    what programs and servers send to each other.
    """
    merchant = create_merchant("Sari Store")
    charge_fees(merchant.merchant)
    with ExitStack() as stack:
        receiver = stack.enter_context(receiver_process())
        links = {
            "receivers": stack.enter_context(relay_process(_port_of(receiver))),
            "PostgreSQL": stack.enter_context(relay_process(f"{folders.database_socket}/.s.PGSQL.5432")),
            "Redis": stack.enter_context(relay_process(str(folders.redis_socket))),
        }
        through = {
            "DATABASE_URL": _database_at(links["PostgreSQL"]),
            "REDIS_URL": f"redis://{HOST}:{links['Redis'].port}",
        }
        url, web = stack.enter_context(web_process(folders.data, **through))
        links["merchants"] = stack.enter_context(relay_process(_port_of(url)))
        worker = Worker(folders.data)
        stack.callback(worker.kill)
        worker.start(**through)
        notify = f"http://{HOST}:{links['receivers'].port}/hook"
        client = Client(
            Load(folders.data, CONNECTIONS), links["merchants"].port, merchant.keys["sk_test"], receiver=notify
        )
        pids = {"web": web, "worker": worker.program.pid} | _servers()
        _take(client, WARM_UP_CHARGES)
        before = _measure(pids, links)
        _take(client, charges)
        used = {name: value - before[name] for name, value in _measure(pids, links).items()}
    webhooks = Webhook.objects.count() / (WARM_UP_CHARGES + charges)
    made = {"charges": charges, "webhooks of a charge": round(webhooks, 2)}
    return made | {name: round(value / charges * MILLION, 2) for name, value in used.items()}


def _take(client: Client, count: int) -> None:
    """Take payments, and wait until all is delivered and settled down."""
    client.charge(client.new_charges(client.sources(count, redirect=client.redirect)))
    assert wait_until(nothing_waits, DELIVERY_TIMEOUT_SECONDS)
    # What was written is counted when it is on the disk, and the visibility map is part of a table.
    run_sql("VACUUM")
    run_sql("CHECKPOINT")


def _measure(pids: Mapping[str, int], links: Mapping[str, RelayProcess]) -> dict[str, float]:
    [[disk_bytes]], [[log_bytes]] = run_sql(SIZE), run_sql("SELECT pg_current_wal_lsn() - '0/0'")
    return (
        {f"core hours of {name}": cpu_seconds(pid) / HOUR_SECONDS for name, pid in pids.items()}
        | {"GB of disk": float(disk_bytes) / GIGABYTE, "GB of log": float(log_bytes) / GIGABYTE}
        | {f"GB to and from {name}": relay.bytes() / GIGABYTE for name, relay in links.items()}
    )


def run_sql(sql: str) -> list[Any]:
    """Run `sql` without a time limit; return its rows, if any."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        connection.connection.answer_seconds = None
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []


def _servers() -> dict[str, int]:
    """Return the process IDs of the servers that this process has started."""
    started = {" ".join(child.cmdline()): child.pid for child in psutil.Process().children()}
    programs = {"PostgreSQL": "/postgres ", "Redis": "valkey-server"}
    return {name: next(pid for line, pid in started.items() if text in line) for name, text in programs.items()}


def _database_at(relay: RelayProcess) -> str:
    kept = connection.settings_dict
    return f"postgresql://{kept['USER']}:{quote(kept['PASSWORD'], safe='')}@{HOST}:{relay.port}/{kept['NAME']}"


def _port_of(url: str) -> int:
    return int(url.split(":")[2].partition("/")[0])

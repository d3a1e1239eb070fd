"""Whether anything acknowledged is lost, or done twice, when PostgreSQL is killed and started again under load."""

import time
from contextlib import ExitStack
from random import Random
from typing import Any

from django.db import connection

from payments.domain.merchants.merchants import create_merchant
from payments.embedded.folders import Folders
from payments.embedded.processes import wait_until
from payments.models import Attempt
from payments.providers.simulator.models import SimulatedPayment
from tests.figures.failover.books import compare
from tests.figures.failover.programs.database import facts, payments, unresolved
from tests.figures.money.lasting_load import Load, name_of
from tests.support.postgres import Postgres
from tests.support.scratch import SETTINGS
from tests.support.web import web_server
from tests.support.worker import Worker

RESOLVE_TIMEOUT_SECONDS = 60
UP_SECONDS = (2.0, 5.0)
DOWN_SECONDS = (0.0, 2.0)


def database(folders: Folders, kills: int, seed: int) -> dict[str, object]:
    """Kills the server `kills` times while programs charge, capture and refund, then lets the worker finish."""
    chance, worker = Random(seed), Worker(folders.data)
    load = Load(create_merchant("Sari Store").keys["sk_test"], seed)
    server = Postgres(folders.data)
    with ExitStack() as stack:
        stack.callback(server.stop)
        stack.callback(worker.kill)
        url = stack.enter_context(web_server(folders.data))
        worker.start()
        with load.on(url):
            for _ in range(kills):
                time.sleep(chance.uniform(*UP_SECONDS))
                server.kill()
                time.sleep(chance.uniform(*DOWN_SECONDS))
                server.start(**SETTINGS)
            time.sleep(chance.uniform(*UP_SECONDS))
        connection.close()
        started = time.monotonic()
        wait_until(lambda: not any(unresolved().values()), RESOLVE_TIMEOUT_SECONDS)
        resolved = {"resolved_in_seconds": round(time.monotonic() - started, 1)}
        return {"kills": kills, "seed": seed, **_answered(load), **resolved, **_kept(load)}


def _answered(load: Load) -> dict[str, Any]:
    return {
        "acknowledged": len(load.acknowledged),
        "abandoned": len(load.abandoned),
        "answers": dict(load.answers),
        "undocumented": load.undocumented,
    }


def _kept(load: Load) -> dict[str, Any]:
    findings = compare(list(load.acknowledged.values()), facts(), payments(), [])
    return {"taken_after_5xx": sum(_has_money(number) for number in load.abandoned), **findings.figures()}


def _has_money(number: int) -> bool:
    attempts = Attempt.objects.filter(charge__description=name_of(number), kind="authorize")
    references = [attempt.reference for attempt in attempts]
    return SimulatedPayment.objects.filter(reference__in=references, state__in=["held", "captured"]).exists()

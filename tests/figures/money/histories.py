"""Histories by the thousand, each step held to a model of the contract, on all cores."""

import logging
import multiprocessing
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

from tests.high_limits import MANY_DECLINES

# A failing batch is run again, alone, by its own seed.
BATCH = 50


def histories(histories: int, seed: int) -> dict[str, object]:
    """Run `histories`, the first fifty under `seed`, the next under `seed + 1`, and so on; count the failed.

    Each process has a database of its own, because the sweeps look at the objects of all merchants.
    """
    batches = [(seed + number, min(BATCH, histories - number * BATCH)) for number in range(-(-histories // BATCH))]
    with _databases(processes := os.cpu_count() or 1) as names:
        waiting = multiprocessing.get_context("fork").Queue()
        for name in names:
            waiting.put(name)
        with multiprocessing.get_context("fork").Pool(processes, _enter, [waiting]) as pool:
            failed = []
            for done, (batch_seed, why) in enumerate(pool.imap_unordered(_run, batches), 1):
                if why:
                    failed.append(batch_seed)
                print(f"{why}histories: {done} of {len(batches)} batches, {len(failed)} failed", file=sys.stderr)
    return {"histories": histories, "seed": seed, "failed": len(failed), "seeds_of_failed": sorted(failed)}


@contextmanager
def _databases(count: int) -> Iterator[list[str]]:
    """Yield the names of `count` copies of this database, to which nobody may be connected meanwhile."""
    template = connection.settings_dict["NAME"]
    names = [f"{template}_{number}" for number in range(count)]
    _on_server(*(f'CREATE DATABASE "{name}" TEMPLATE "{template}"' for name in names))
    try:
        yield names
    finally:
        _on_server(*(f'DROP DATABASE "{name}" WITH (FORCE)' for name in names))


def _on_server(*statements: str) -> None:
    connection.close()
    # A database that somebody is connected to is no template.
    connection.close_pool()
    with connection._nodb_cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _enter(waiting: "multiprocessing.Queue[str]") -> None:
    """Take a database for this process; commits need not reach the disk, because no server is killed here."""
    from tests.machine.runner import NEVER_BY_ITSELF_SECONDS

    logging.disable(logging.CRITICAL)
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.SIMULATOR_REFUND_DELAY_SECONDS = NEVER_BY_ITSELF_SECONDS
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES
    connection.settings_dict["NAME"] = waiting.get()
    connection.settings_dict["OPTIONS"]["options"] += " -c synchronous_commit=off"


def _run(batch: tuple[int, int]) -> tuple[int, str]:
    from tests.machine.runner import run_histories

    seed, count = batch
    try:
        run_histories(count, seed)
    except Exception:  # noqa: BLE001  whatever is wrong is what this looks for
        return seed, f"python -m tests.figures histories --histories {count} --seed {seed}\n{traceback.format_exc()}"
    return seed, ""

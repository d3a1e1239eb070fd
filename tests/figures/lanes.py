"""A figure on all processors, each with a copy of the database."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from django.db import connection

from tests.faults.processes import Broke, forked


def lanes_for(parts: int) -> int:
    """Return how many of so many parts are done at once."""
    return min(os.cpu_count() or 1, parts)


def results_of(run: Callable[[int], Any], lanes: int) -> list[Any]:
    """Return what `run` returns for the number of each lane, in a process and a copy of the database of its own."""
    # A database that somebody is connected to is no template.
    connection.close()
    for lane in range(lanes):
        connection.creation.clone_test_db(str(lane), verbosity=0)
    with ExitStack() as stack:
        pipes = [stack.enter_context(forked(partial(_run, run, lane))) for lane in range(lanes)]
        return [_received(pipe) for pipe in pipes]


def without_waiting_for_disks() -> None:
    """Have commits in this copy return before they are on the disk, where no server is killed."""
    with connection.cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{connection.settings_dict["NAME"]}" SET synchronous_commit = off')
    # It holds for the sessions to come.
    connection.close()


def _run(run: Callable[[int], Any], lane: int, pipe: Connection) -> None:
    connection.creation.setup_worker_connection(lane)
    pipe.send(run(lane))


def _received(pipe: Connection) -> Any:
    received = pipe.recv()
    assert not isinstance(received, Broke), received.traceback
    return received

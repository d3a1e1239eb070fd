"""How a web server is run: granian on loopback, with workers that are forked from the process that loaded it all."""

import multiprocessing
import sys
from collections.abc import Callable
from typing import Any

from granian import Granian
from granian.constants import Interfaces

from config.embedded.processes import die_with_parent
from config.quickstart.ports import HOST

WORKERS = 2
# So many wait for providers at once in each process. granian starts them when they are needed and ends them afterwards.
THREADS = 100

Application = Callable[..., Any]


def serve(application: Application, port: int) -> None:
    """Serve a WSGI application, as soon as standard input is closed, until SIGTERM."""
    server = Granian(
        "application",
        address=HOST,
        port=port,
        interface=Interfaces.WSGI,
        workers=WORKERS,
        blocking_threads=THREADS,
        respawn_failed_workers=True,
        workers_kill_timeout=3,
        log_access=False,
    )
    sys.stdin.read()
    server.serve(target_loader=lambda _: _in_worker(application))


def _in_worker(application: Application) -> Application:
    """What granian calls in each worker, which must not outlive the server that started it."""
    server = multiprocessing.parent_process()
    if server and server.pid:
        die_with_parent(server.pid)
    return application

"""How a web server is run: granian on loopback, with workers that are forked from the process that loaded it all."""

import multiprocessing
import sys
from collections.abc import Callable
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings

from payments.quickstart.ports import HOST
from payments.quickstart.servers.processes import die_with_parent

WORKERS = 2
# Connections in each process; idle ones count, and those that send no request for this long are closed.
CONNECTIONS = 4096
HEADER_MILLISECONDS = 30_000

Application = Callable[..., Any]


def serve(application: Application, port: int) -> None:
    """Serve an application, as soon as standard input is closed, until SIGTERM."""
    server = Granian(
        "application",
        address=HOST,
        port=port,
        interface=Interfaces.ASGI,
        workers=WORKERS,
        http=HTTPModes.http1,
        websockets=False,
        backlog=CONNECTIONS,
        backpressure=CONNECTIONS,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MILLISECONDS),
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

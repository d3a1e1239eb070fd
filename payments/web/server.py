"""granian, the web server, with the options that kaha needs."""

from _thread import start_new_thread
from collections.abc import Callable
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.common import AbstractServer

from payments.web.cpus import Cpus

Application = Callable[..., Any]
PROCESSES = 2
# Connections in each process; idle ones count, and those that send no request for this long are closed.
CONNECTIONS = 4096
HEADER_MILLISECONDS = 30_000
# What SIGTERM finds under way has this long: a provider may take half a minute, and its outcome is then recorded.
DRAIN_SECONDS = 60


def serve(
    load: Callable[[], Application],
    host: str,
    port: int,
    processes: int = PROCESSES,
    drain_seconds: int = DRAIN_SECONDS,
) -> None:
    """Serve the ASGI application that `load` returns in each process, until SIGTERM.

    A process that dies is replaced. HTTP/2 has no deadline for headers, so it is off.
    """
    server: AbstractServer[Any] = Granian(
        "application",
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        workers=processes,
        http=HTTPModes.http1,
        websockets=False,
        backlog=CONNECTIONS,
        backpressure=CONNECTIONS,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MILLISECONDS),
        respawn_failed_workers=True,
        workers_kill_timeout=drain_seconds,
        log_access=False,
    )
    cpus = Cpus(processes)

    def load_in_process(_: str) -> Application:
        cpus.bind()
        return load()

    def interrupt(*_: object) -> None:
        server.interrupt_signal = True
        start_new_thread(server.main_loop_interrupt.set, ())

    # granian's own handler hangs where the signal meets it while a process has just ended, for it takes a held lock.
    vars(server)["signal_handler_interrupt"] = interrupt
    server.serve(target_loader=load_in_process)

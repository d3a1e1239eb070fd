"""granian, the web server, with the options that kaha needs."""

import os
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, lockf
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server import MPServer

Application = Callable[..., Any]
PROCESSES = 2
# Connections in each process; idle ones count, and those that send no request for this long are closed.
CONNECTIONS = 4096
HEADER_MILLISECONDS = 30_000
# What SIGTERM finds under way has this long: a provider may take half a minute, and its outcome is then recorded.
DRAIN_SECONDS = 60


class Cpus:
    """Gives each process a CPU of its own, whose caches then hold what its threads share.

    It is made before the processes are forked. Processes that are fewer than the CPUs, or that cannot be equally many
    on each, run on all CPUs.
    """

    def __init__(self, processes: int) -> None:
        self._cpus = sorted(os.sched_getaffinity(0))
        self._places = 0 if processes % len(self._cpus) else processes
        self._taken = os.memfd_create("cpus")

    def bind(self) -> None:
        """Have this process run on its CPU, with all threads that it starts from now on."""
        for place in range(self._places):
            # The kernel takes the lock back when the process ends, so the one that replaces it finds the place free.
            with suppress(BlockingIOError):
                lockf(self._taken, LOCK_EX | LOCK_NB, 1, place)
                # A sandbox may forbid it, and the CPU may have been taken from the container.
                with suppress(OSError):
                    os.sched_setaffinity(0, {self._cpus[place % len(self._cpus)]})
                return


class Server(MPServer):
    """granian with a process for each worker."""

    def signal_handler_interrupt(self, *_: object) -> None:
        """End the server; granian's own handler hangs where a process has just ended, for it takes a held lock."""
        self.interrupt_signal = True
        start_new_thread(self.main_loop_interrupt.set, ())


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
    server = Server(
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

    server.serve(target_loader=load_in_process)

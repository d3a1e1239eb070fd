"""The CPUs of a machine, shared out among the processes of a web server."""

import os
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, lockf


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

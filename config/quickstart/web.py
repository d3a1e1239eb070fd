"""The web server of the quickstart: `python -m config.quickstart.web PORT`.

It loads the application while the database still starts, and serves when its standard input is closed. The workers
are forked, so what is loaded before is loaded once.
"""

import multiprocessing
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from django.conf import settings
from granian import Granian
from granian.constants import Interfaces

from config.embedded.processes import die_with_parent
from config.quickstart.ports import HOST
from config.wsgi import application

WORKERS = 2
THREADS = 4


def main(port: int) -> None:
    """Serve on the loopback address until SIGTERM."""
    import_module(settings.ROOT_URLCONF)
    server = Granian(
        "config.wsgi:application",
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
    server.serve(target_loader=load_application)


def load_application(target: str) -> Callable[..., Any]:
    """What granian calls in each worker, which must not outlive the server that started it."""
    server = multiprocessing.parent_process()
    if server and server.pid:
        die_with_parent(server.pid)
    return application


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""The web server of the quickstart: `python -m config.quickstart.web PORT`."""

import multiprocessing
import sys
from typing import Any

from granian import Granian
from granian.constants import Interfaces

from config.embedded.processes import die_with_parent
from config.quickstart.ports import HOST

WORKERS = 2
THREADS = 4


def load_application(target: str) -> Any:
    """Load the application in a worker process, which must not outlive the server that started it."""
    server = multiprocessing.parent_process()
    if server and server.pid:
        die_with_parent(server.pid)
    from config.wsgi import application

    return application


def main(port: int) -> None:
    """Serve on the loopback address until SIGTERM."""
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
    server.serve(target_loader=load_application)


if __name__ == "__main__":
    main(int(sys.argv[1]))

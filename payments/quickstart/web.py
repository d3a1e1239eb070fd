"""The web server, as `manage.py quickstart` starts it, behind one port: `python -m payments.quickstart.web PORT`.

It loads the application while the database still starts, and serves when its standard input is closed. The workers
are forked, so what is loaded before is loaded once.
"""

import multiprocessing
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from payments.quickstart.ports import HOST
from payments.quickstart.servers.processes import die_with_parent
from payments.web.server import web_server

DRAIN_SECONDS = 3

Application = Callable[..., Any]


def serve(application: Application, port: int) -> None:
    """Serve an application, as soon as standard input is closed, until SIGTERM."""

    def load(_: str) -> Application:
        # granian calls this in each worker, which must not outlive the server that started it.
        server = multiprocessing.parent_process()
        if server and server.pid:
            die_with_parent(server.pid)
        return application

    server = web_server("application", HOST, port, drain_seconds=DRAIN_SECONDS)
    sys.stdin.read()
    server.serve(target_loader=load)


if __name__ == "__main__":
    # By name: `config` imports this package, which imports nothing of it.
    application = import_module("config.asgi").application
    import_module("config.urls")
    serve(application, int(sys.argv[1]))

"""The web server, as `manage.py quickstart` starts it, behind one port: `python -m payments.quickstart.web PORT`.

It loads the application while the database still starts, and serves when its standard input is closed. The workers
are forked, so what is loaded before is loaded once.
"""

import multiprocessing
import sys
from functools import partial
from importlib import import_module

from payments.embedded.processes import die_with_parent
from payments.quickstart.ports import HOST
from payments.web.server import Application, serve

DRAIN_SECONDS = 3


def in_process(application: Application) -> Application:
    """Return the application, in a process that must not outlive the server that started it."""
    server = multiprocessing.parent_process()
    if server and server.pid:
        die_with_parent(server.pid)
    return application


if __name__ == "__main__":
    # By name: `config` imports this package, which imports nothing of it.
    application = import_module("config.asgi").application
    import_module("config.urls")
    sys.stdin.read()
    serve(partial(in_process, application), HOST, int(sys.argv[1]), drain_seconds=DRAIN_SECONDS)

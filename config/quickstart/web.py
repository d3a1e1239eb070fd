"""The web server of the quickstart: `python -m config.quickstart.web PORT`.

It loads the application while the database still starts, and serves when its standard input is closed. The workers
are forked, so what is loaded before is loaded once.
"""

import sys
from importlib import import_module

from django.conf import settings

from config.quickstart.serving import serve
from config.server.asgi import application


def main(port: int) -> None:
    """Serve on the loopback address until SIGTERM."""
    import_module(settings.ROOT_URLCONF)
    serve(application, port)


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""The web server of the quickstart: `python -m payments.quickstart.web PORT`.

It loads the application while the database still starts, and serves when its standard input is closed. The workers
are forked, so what is loaded before is loaded once.
"""

import sys
from importlib import import_module

import django
from django.conf import settings
from django.utils.module_loading import import_string

from payments.quickstart.serving import serve


def main(port: int) -> None:
    """Serve on the loopback address until SIGTERM."""
    django.setup()
    application = import_string(settings.ASGI_APPLICATION)
    import_module(settings.ROOT_URLCONF)
    serve(application, port)


if __name__ == "__main__":
    main(int(sys.argv[1]))

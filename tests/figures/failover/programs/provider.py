"""The simulator as a provider of its own: `python -m tests.figures.failover.programs.provider ADDRESS PORT`."""

import os
import sys
from http.server import ThreadingHTTPServer

import django


def main(address: str, port: int) -> None:
    """Answer until this process is ended."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.db import connection

    from tests.faults.server import Handler

    class Answers(Handler):
        def do_POST(self) -> None:
            try:
                super().do_POST()
            finally:
                connection.close()

    ThreadingHTTPServer((address, port), Answers).serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

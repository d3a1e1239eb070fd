"""A WSGI application behind our front, whose answers come in pieces."""

from collections.abc import Iterator
from typing import Any
from wsgiref.types import StartResponse

from config.wsgi import application as wsgi_application  # Django is set up by it

# isort: split
from payments.web.front import Front

PIECE = b"kaha" * 16_384
COUNT = 100


def answer(environ: dict[str, Any], start_response: StartResponse) -> Iterator[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    if environ["PATH_INFO"] == "/endless":
        while True:
            yield PIECE
    for _ in range(COUNT):
        yield PIECE


assert wsgi_application
application = Front(answer)

"""A WSGI application behind our front: two paths are answered in pieces, all others are ours."""

import sys
from collections.abc import Iterable
from itertools import repeat
from typing import Any
from wsgiref.types import StartResponse

from config.wsgi import application as wsgi_application  # Django is set up by it

# isort: split
from payments.web.front import Front

PIECE = b"kaha" * 16_384
COUNT = 100


PIECES = {"/pieces": COUNT, "/endless": sys.maxsize}


def answer(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    count = PIECES.get(environ["PATH_INFO"])
    if count is None:
        return wsgi_application(environ, start_response)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return repeat(PIECE, count)


application = Front(answer)

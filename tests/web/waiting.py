"""A WSGI application behind our front, one path of which is not answered for as long as a test takes."""

import threading
from typing import Any
from wsgiref.types import StartResponse

from config.wsgi import application as wsgi_application  # Django is set up by it

# isort: split
from payments.web.front import Front

WAITING = "/waiting"
WAIT_SECONDS = 120


def answer(environ: dict[str, Any], start_response: StartResponse) -> list[bytes]:
    if environ["PATH_INFO"] == WAITING:
        threading.Event().wait(WAIT_SECONDS)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"answered"]


assert wsgi_application
application = Front(answer)

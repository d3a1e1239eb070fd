"""Bodies without a Content-Length (chunked, HTTP/2), which Django takes for empty ones."""

from collections.abc import Iterable
from io import BytesIO
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

from payments.api.parsing import may_have_body


class WholeBody:
    """WSGI middleware that reads such a body first, up to one byte more than `limit_bytes`, and states its length.

    Whoever refuses bodies that are longer than that sees that this one is. The length of an empty one is not stated:
    the connection may have broken off before its first byte, and nobody must take "all of it" for what was meant.
    """

    def __init__(self, application: WSGIApplication, limit_bytes: int) -> None:
        self.application = application
        self.limit_bytes = limit_bytes

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if not environ.get("CONTENT_LENGTH") and environ.get("wsgi.input_terminated"):
            # With a size, for granian's read() without one loses what an earlier read(n) left.
            body = environ["wsgi.input"].read(self.limit_bytes + 1)
            environ["wsgi.input"] = BytesIO(body)
            if body or not may_have_body(environ):
                environ["CONTENT_LENGTH"] = str(len(body))
        return self.application(environ, start_response)

"""Paths longer than any of ours."""

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

MAX_PATH_CHARACTERS = 1024


class ShortPath:
    """WSGI middleware that cuts such a path: it leads nowhere either way.

    A pattern of the admin's takes time by the square of the length, of anybody's path.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        environ["PATH_INFO"] = environ.get("PATH_INFO", "")[:MAX_PATH_CHARACTERS]
        return self.application(environ, start_response)

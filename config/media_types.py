"""Media types that Django cannot read, or reads as leave to decode a query by any codec of Python's."""

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

from django.utils.http import parse_header_parameters

from payments.api.parsing import UTF_8

UNKNOWN = "application/octet-stream"


class ReadableType:
    """WSGI middleware that puts UNKNOWN in place of a type that is unreadable or names another charset than UTF-8.

    Django would raise before any middleware of its own could answer.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if not _is_readable(environ.get("CONTENT_TYPE", "")):
            environ["CONTENT_TYPE"] = UNKNOWN
        return self.application(environ, start_response)


def _is_readable(content_type: str) -> bool:
    try:
        _, parameters = parse_header_parameters(content_type)
    except (ValueError, LookupError):
        return False
    return parameters.get("charset", UTF_8[0]).lower() in UTF_8

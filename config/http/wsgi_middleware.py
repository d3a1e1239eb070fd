"""WSGI middleware around Django, for requests that its own middleware would see too late."""

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

from django.utils.http import parse_header_parameters

from payments.api.validation.parsers import UTF_8

MAX_PATH_CHARACTERS = 1024
UNKNOWN = "application/octet-stream"


class PathLimit:
    """Cut a path that is longer than any of ours: it leads nowhere either way.

    Matching one of the admin's URL patterns takes time by the square of the length.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        environ["PATH_INFO"] = environ.get("PATH_INFO", "")[:MAX_PATH_CHARACTERS]
        return self.application(environ, start_response)


class ContentTypeFilter:
    """Put UNKNOWN in place of a content type that is unreadable or names another charset than UTF-8.

    Django would raise before any middleware of its own could answer, or decode a query by any codec of Python's.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        try:
            _, parameters = parse_header_parameters(environ.get("CONTENT_TYPE", ""))
            is_readable = parameters.get("charset", UTF_8[0]).lower() in UTF_8
        except (ValueError, LookupError):
            is_readable = False
        if not is_readable:
            environ["CONTENT_TYPE"] = UNKNOWN
        return self.application(environ, start_response)

"""What the front asks of a request before Django has it."""

import re

from django.http import HttpRequest

from payments.web.environ import Environ

WATCHED = re.compile(r"/(ping|ready)/?")


def request_of(environ: Environ) -> HttpRequest:
    """Makes a request of its environment alone, for functions that read no more than that."""
    request = HttpRequest()
    request.META = environ
    request.method = environ["REQUEST_METHOD"]
    return request


def is_api_path(path: str) -> bool:
    """Return whether a program asks for `path`, with a key."""
    return path == "/v2" or path.startswith("/v2/")


def watched_name(environ: Environ) -> str | None:
    """`ping` or `ready` where somebody watches the process."""
    match = WATCHED.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] in ("GET", "HEAD") else None
    return match[1] if match else None


def has_body(environ: Environ) -> bool:
    """Whether a body follows the headers."""
    return "HTTP_TRANSFER_ENCODING" in environ or stated_length(environ) > 0


def stated_length(environ: Environ) -> int:
    """The length in Content-Length, which the server has read already; -1 where none is stated."""
    stated = environ.get("CONTENT_LENGTH", "")
    return int(stated) if stated.isascii() and stated.isdigit() else -1

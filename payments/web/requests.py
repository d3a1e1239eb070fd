"""Properties of a request that are read before Django handles it."""

from django.http import HttpRequest

from payments.web.environ import Environ


def request_of(environ: Environ) -> HttpRequest:
    """Return a Django request with only its environment and method."""
    request = HttpRequest()
    request.META = environ
    request.method = environ["REQUEST_METHOD"]
    return request


def is_api_path(path: str) -> bool:
    """Return whether `path` is the API's."""
    return path == "/v2" or path.startswith("/v2/")


def has_body(environ: Environ) -> bool:
    """Return whether a body follows the headers."""
    return "HTTP_TRANSFER_ENCODING" in environ or stated_length(environ) > 0


def stated_length(environ: Environ) -> int:
    """Return the Content-Length, or -1 without one; the server has validated it."""
    stated = environ.get("CONTENT_LENGTH", "")
    return int(stated) if stated.isascii() and stated.isdigit() else -1

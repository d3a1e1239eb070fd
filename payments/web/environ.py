"""The WSGI environment of an ASGI request, and what it says before Django handles the request."""

import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes
from wsgiref.util import FileWrapper

from django.http import HttpRequest, HttpResponseBase

from payments.api.access import idempotency_headers, product_paths
from payments.api.responses.error_forms import is_for_assistants

Scope = dict[str, Any]
Environ = dict[str, Any]
GetResponse = Callable[[HttpRequest], HttpResponseBase]

# granian calls HTTP/1.0 "1".
PROTOCOLS = {"1": "HTTP/1.0"}
WITHOUT_PREFIX = ("CONTENT_TYPE", "CONTENT_LENGTH")
# Between the values of a header that is sent several times; a comma for all others.
SEPARATORS = {"HTTP_COOKIE": "; ", **dict.fromkeys(idempotency_headers.HEADERS, idempotency_headers.SEPARATOR)}
# A partial response would occupy a thread until its client has read it; a server may ignore Range (RFC 9110, 14.2).
IGNORED = (b"range",)


def environ_of(scope: Scope) -> Environ:
    """Return the environment of a request, with an empty body.

    Headers with an underscore in their names are dropped: WSGI does not distinguish `X_Forwarded_For` from
    `X-Forwarded-For`, so a client could impersonate a proxy.
    """
    version = scope["http_version"]
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": PROTOCOLS.get(version, f"HTTP/{version}"),
        "SERVER_NAME": scope["server"][0],
        "SERVER_PORT": scope["server"][1],
        "REMOTE_ADDR": scope["client"][0],
        "REMOTE_PORT": scope["client"][1],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": FileWrapper,
    }
    _add_headers(environ, scope["headers"])
    product_paths.lead(environ)
    return environ


def put_body(environ: Environ, body: bytes) -> None:
    """Set the body and its Content-Length."""
    environ["wsgi.input"] = BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))


def _add_headers(environ: Environ, headers: Iterable[tuple[bytes, bytes]]) -> None:
    for raw_name, raw_value in headers:
        # granian adds an empty Host if the client sends none.
        if b"_" in raw_name or raw_name in IGNORED or (raw_name == b"host" and not raw_value):
            continue
        name = raw_name.decode("latin-1").upper().replace("-", "_")
        if name not in WITHOUT_PREFIX:
            name = f"HTTP_{name}"
        value = raw_value.decode("latin-1")
        if name in environ:
            value = f"{environ[name]}{SEPARATORS.get(name, ',')}{value}"
        environ[name] = value


def request_of(environ: Environ) -> HttpRequest:
    """Return a Django request with only its environment and method."""
    request = HttpRequest()
    request.META = environ
    request.method = environ["REQUEST_METHOD"]
    return request


def is_api_path(path: str) -> bool:
    """Return whether `path` is the API's, that of assistants included."""
    return path == "/v2" or path.startswith("/v2/") or is_for_assistants(path)


def is_api(request: HttpRequest) -> bool:
    """Return whether the request is for the API, which answers in JSON and has no sessions."""
    return is_api_path(request.path_info)


def has_body(environ: Environ) -> bool:
    """Return whether a body follows the headers."""
    return "HTTP_TRANSFER_ENCODING" in environ or stated_length(environ) > 0


def stated_length(environ: Environ) -> int:
    """Return the Content-Length, or -1 without one; the server has validated it."""
    stated = environ.get("CONTENT_LENGTH", "")
    return int(stated) if stated.isascii() and stated.isdigit() else -1

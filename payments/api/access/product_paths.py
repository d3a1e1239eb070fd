"""The other addresses of checkouts, links, requests and the calls of card fields: by path, and by hosts of their own.

A program's request is led to the API's canonical path, before anything else looks at it. A browser's is led to the
payer's page.
"""

import re
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port

from payments import hosts

Environ = dict[str, Any]
# In a request's environment: the Alias by which it came, None for a canonical path.
ALIAS = "kaha.alias"
# The whole URL, without its query, by which it came.
ADDRESS = "kaha.address"
# Pages below a checkout, for all clients: a browser that saves a file sends no `Accept`, as a program.
PAGES_BELOW = re.compile("/[^/]+/(?:done|receipt)/?")
# An object of the product, by its ID.
PAGE = re.compile(r"/[a-z]+_[0-9a-f]{32}/?")


@dataclass(frozen=True, slots=True)
class Alias:
    """Another path of a resource: `prefix` stands for `canonical`.

    `is_root`: pages of its own stand below it. `is_older`: its sessions name themselves in the URLs of the shop.
    """

    prefix: str
    canonical: str
    is_root: bool = False
    is_older: bool = False


ALIASES = (
    Alias("/checkout/api/v2/sessions", "/v2/checkout_sessions", is_older=True),
    Alias("/checkout", "/v2/checkout_sessions", is_root=True),
    Alias("/links/api/v1/links", "/v2/payment_links"),
    Alias("/requests/api/v1/requests", "/v2/payment_requests"),
    Alias("/api/v2/sources", "/v2/sources"),
    Alias("/api/v2/health", "/v2/health"),
)


def lead(environ: Environ) -> None:
    """Lead a request by another path or host to the canonical path, or to a payer's page."""
    host, given = split_domain_port(environ.get("HTTP_HOST", ""))[0], environ["PATH_INFO"]
    path = hosts.path_below(host, given)
    for alias in ALIASES:
        rest = path.removeprefix(alias.prefix)
        if path.startswith(alias.prefix) and rest[:1] in ("", "/"):
            if not (alias.is_root and (is_payer(environ) or _is_page(environ, rest))):
                root = settings.PUBLIC_URL if path == given else f"https://{host}"
                environ[ALIAS], environ[ADDRESS] = alias, root + given
                path = alias.canonical + rest
            break
    environ["PATH_INFO"] = path


def address_of(environ: Environ) -> str:
    """Return the whole URL, without its query, by which a request came."""
    return str(environ.get(ADDRESS) or f"{settings.PUBLIC_URL}{environ['PATH_INFO']}")


def is_payer(environ: Environ) -> bool:
    """Return whether a request comes from a payer's browser: for a page, or with a form; a program has a key."""
    if "HTTP_AUTHORIZATION" in environ:
        return False
    if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
        return "text/html" in environ.get("HTTP_ACCEPT", "")
    return str(environ.get("CONTENT_TYPE", "")).startswith("application/x-www-form-urlencoded")


def _is_page(environ: Environ, rest: str) -> bool:
    """Return whether a request asks for an object's page, without a key, or for one below it, whatever it takes."""
    is_read = environ["REQUEST_METHOD"] in ("GET", "HEAD")
    is_own = is_read and "HTTP_AUTHORIZATION" not in environ and PAGE.fullmatch(rest)
    return bool(is_own or PAGES_BELOW.fullmatch(rest))

"""The hosts of the service: its own, and those that serve one site for people or one product of the checkout alone.

What has no host of its own is below a path of the service's host.
"""

from contextlib import suppress

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

# The paths of the products below the service's own host, and the settings with a host of each.
CHECKOUT, LINKS, REQUESTS = "/checkout", "/links", "/requests"
PRODUCTS = {"CHECKOUT_HOST": CHECKOUT, "LINKS_HOST": LINKS, "REQUESTS_HOST": REQUESTS}
OWN = ("ADMIN_HOST", "MERCHANT_HOST", *PRODUCTS)
# On a product's own host, these stand beside its pages.
COMMON = ("/static/", "/ping", "/ready")


def path_below(host: str, path: str) -> str:
    """Return the path that a request to `path` of a host has below the service's own."""
    for name, prefix in PRODUCTS.items():
        if host and host == getattr(settings, name) and not path.startswith(COMMON):
            return prefix + path
    return path


def asked_of(request: HttpRequest) -> str:
    """Return the host that a request names, without its port; "" for one that is not allowed, as of health checks."""
    with suppress(DisallowedHost):
        return split_domain_port(request.get_host())[0]
    return ""


def is_own(setting: str) -> bool:
    """Return whether the host that a setting names, if any, is allowed, and that of nothing else."""
    host = getattr(settings, setting).lower()
    others = [host_of(settings.PUBLIC_URL), *(getattr(settings, name) for name in OWN if name != setting)]
    is_name = host == host_of(f"https://{host}") and not host.startswith(".")
    is_another = validate_host(host, settings.ALLOWED_HOSTS) and host not in [other.lower() for other in others]
    return not host or (is_name and is_another)


def origin_on(host: str, url: str) -> str:
    """Return the origin `url` (scheme, host and port) with another host, or as it is for "".

    Never raises: `config.boot.checks` refuses a malformed `url`.
    """
    if not host:
        return url
    scheme, separator, netloc = url.partition("://")
    port = split_domain_port(netloc)[1]
    return f"{scheme}{separator}{host}:{port}" if port else f"{scheme}{separator}{host}"


def host_of(origin: str) -> str:
    """Return the host of an origin, without its port; "" for one that is malformed."""
    return split_domain_port(origin.partition("://")[2])[0]

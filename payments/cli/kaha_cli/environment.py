"""What `kaha` takes from the environment, and what to mend in it where a request cannot be sent."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from kaha_cli.failures import Misuse, printable

KEY, URL, PROFILE, SECRET = "KAHA_KEY", "KAHA_URL", "KAHA_PROFILE", "KAHA_WEBHOOK_SECRET"
PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
HIGHEST_PORT = 65535


def variable(name: str) -> str:
    """Return the value of a variable without blanks at its ends, or "" where it is not set.

    Raises Misuse where it is set and empty, because another key or address than the one that was meant would be used.
    """
    value = os.environ.get(name)
    if value is None:
        return ""
    check_text(value, name)
    return given(value, name)


def given(value: str, name: str) -> str:
    """Return `value` without blanks at its ends, such as the carriage return of a file. Raises Misuse for none."""
    if not value.strip():
        raise Misuse(f"{name} is set, but empty. Is your variable set? Without {name} the profile is used.")
    return value.strip()


def check_text(text: str, name: str) -> None:
    """Raise Misuse where `text` has bytes that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Misuse(f"{name} has bytes that are not UTF-8. Nothing was sent: write it in UTF-8.") from None


def is_address(text: str) -> bool:
    """Return whether a request can be sent to `text`: http or https, a host that has a name, a port that exists."""
    try:
        url = httpx2.URL(text)
        # As the resolver encodes it.
        url.raw_host.decode().encode("idna")
    except (httpx2.InvalidURL, ValueError):
        return False
    is_port = url.port is None or 0 < url.port <= HIGHEST_PORT
    return url.scheme in ("http", "https") and bool(url.host) and is_port and text.isprintable()


@contextmanager
def faults_named() -> Iterator[None]:
    """Raise Misuse, with the variables to mend, where a client for HTTP cannot be made in this environment."""
    try:
        yield
    except ImportError:
        where = "`pip install 'httpx2[socks]'` where kaha is installed"
        raise Misuse(f"{proxies()} asks for a SOCKS proxy. Run {where}, or unset {proxies()}.") from None
    except OSError as error:
        named = _set(CERTIFICATES) or "The list of trusted certificates of this machine"
        raise Misuse(printable(f"{named} cannot be used ({error.strerror or error}). Mend or unset it.")) from None
    except (ValueError, httpx2.InvalidURL):
        raise Misuse(f"{proxies()} is not an address like http://proxy.example:3128. Mend or unset it.") from None


def proxies() -> str:
    """Return the names of the variables that are set and name proxies, or words for none."""
    return _set(PROXIES) or "The proxy of this machine"


def has_proxy() -> bool:
    """Return whether a variable names a proxy."""
    return bool(_set(PROXIES[:-1]))


def _set(names: tuple[str, ...]) -> str:
    return ", ".join(name for upper in names for name in (upper, upper.lower()) if os.environ.get(name))

"""Where requests to a provider may go: its own hosts, by https on the usual port, and nowhere else.

An operator's typing ends up in host names, so the finished address is checked where it is sent (`http.restrict`). It is
matched whole, because parsers of URLs disagree about addresses with user information, backslashes and the like.
"""

import re
from collections.abc import Collection

LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
PUBLIC = re.compile(rf"https://({LABEL}(?:\.{LABEL})+)(?::443)?(?:/[^\s\\]*)?")
LOOPBACK = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?(?:/[^\s\\]*)?")


def is_provider_address(url: str, domains: Collection[str]) -> bool:
    """Return whether `url` leads to one of `domains`: host names, `*.` in front for all names below."""
    found = PUBLIC.fullmatch(url)
    host = found[1].lower() if found else ""
    return any(host.endswith(name[1:]) if name.startswith("*.") else host == name for name in domains)


def is_loopback_address(url: str) -> bool:
    """Return whether `url` leads to this machine."""
    return LOOPBACK.fullmatch(url) is not None

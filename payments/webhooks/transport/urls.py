"""Which notify URLs may be called, read strictly: what two parsers could read differently is refused."""

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import quote

from django.conf import settings

from payments.webhooks.transport.addresses import Address, denial_of

NOT_IN_A_URL = re.compile(r"[\x00-\x20\x7f-\x9f\\\ud800-\udfff]")
URL = re.compile(
    r"(?P<scheme>[A-Za-z]+)://(?P<host>\[[^\[\]/?#@]*\]|[^\[\]:/?#@]*)"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?(?P<target>[/?#].*)?"
)
IPV6_TEXT = re.compile(r"[0-9A-Fa-f:.]+")
LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# WHATWG's rule: a host whose last label is a number is an address, in whatever spelling.
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
NAME_MAX_LENGTH = 253
DEFAULT_PORTS = {"http": 80, "https": 443}
WEB_PORTS = DEFAULT_PORTS.values()
FIRST_UNPRIVILEGED_PORT = 1024
PORT_MAX = 65535
# RFC 3986: these stand for themselves in a path or query; whatever else a merchant wrote is percent-encoded.
TARGET_CHARACTERS = "!$%&'()*+,/:;=?@[]~"


class ForbiddenUrl(Exception):
    """A URL that may not be called; the text is the reason, for the merchant to read, beside `field`."""

    field = "url"


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """A URL that may be called as soon as its addresses are checked too.

    `host` is in lower case, an address in its canonical form; `address` is set where the host is one.
    `target` is path and query as they go over the wire.
    """

    scheme: str
    host: str
    port: int
    target: str
    address: Address | None

    @property
    def receiver(self) -> str:
        """Whom the URL calls, `https://shop.example:443`: the same for all URLs of one server."""
        return f"{self.scheme}://{self._bracketed}:{self.port}"

    @property
    def authority(self) -> str:
        """The Host header, RFC 9110: without the port where it is the scheme's own."""
        return self._bracketed if self.port == DEFAULT_PORTS[self.scheme] else f"{self._bracketed}:{self.port}"

    @property
    def _bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def check_url(url: str, livemode: bool) -> CheckedUrl:
    """Read a notify URL. Raises ForbiddenUrl where a call to it is out of the question, whatever its name means.

    Live mode wants https on a port of NOTIFY_PORTS; test mode takes http too, on any port that is not some other
    protocol's (below 1024 only the web's own).
    """
    checked = _read(url)
    if livemode and checked.scheme != "https":
        raise ForbiddenUrl("Live mode calls https:// only.")
    if livemode and str(checked.port) not in settings.NOTIFY_PORTS:
        raise ForbiddenUrl(f"Live mode calls port {' or '.join(settings.NOTIFY_PORTS)} only.")
    return checked


def check_notify_url(url: str, livemode: bool) -> None:
    """Raise ForbiddenUrl where nothing would ever be sent to `url`, by its text alone; names are looked up later.

    Loopback passes in test mode whatever NOTIFY_ALLOW_LOOPBACK says, for the setting may be changed before the call.
    """
    address = check_url(url, livemode).address
    denial = address and denial_of(address, loopback_allowed=not livemode)
    if denial:
        raise ForbiddenUrl(f"Nothing is sent to its address: {denial}.")


# Pure, and asked again for each of the many events of a shop.
@lru_cache(maxsize=1024)
def _read(url: str) -> CheckedUrl:
    if NOT_IN_A_URL.search(url):
        raise ForbiddenUrl("It holds a space, a backslash or a control character.")
    parts = URL.fullmatch(url)
    if parts is None:
        raise ForbiddenUrl("It must be scheme, host, perhaps a port, and a path; user information is not allowed.")
    scheme = parts["scheme"].lower()
    if scheme not in DEFAULT_PORTS:
        raise ForbiddenUrl("Its scheme must be https or http.")
    port = int(parts["port"] or DEFAULT_PORTS[scheme])
    if port not in WEB_PORTS and not FIRST_UNPRIVILEGED_PORT <= port <= PORT_MAX:
        raise ForbiddenUrl("Its port must be 443, 80, or between 1024 and 65535.")
    host, address = _host_of(parts["host"])
    return CheckedUrl(scheme, host, port, _target_of(parts["target"] or ""), address)


def _host_of(text: str) -> tuple[str, Address | None]:
    if text.startswith("["):
        address = _ipv6_of(text[1:-1])
        return str(address), address
    labels = text.lower().split(".")
    if NUMBER.fullmatch(labels[-1]):
        return text, _ipv4_of(text)
    # Asked of the text as given: lower case turns a few letters of other alphabets into ASCII ones.
    if not text.isascii() or len(text) > NAME_MAX_LENGTH or not all(LABEL.fullmatch(label) for label in labels):
        raise ForbiddenUrl("Its host must be a name of ASCII letters, digits and hyphens, or an address.")
    return text.lower(), None


def _ipv4_of(text: str) -> IPv4Address:
    try:
        return IPv4Address(text)
    except AddressValueError:
        raise ForbiddenUrl("An IPv4 address must be four decimal numbers without leading zeros.") from None


def _ipv6_of(text: str) -> IPv6Address:
    try:
        if IPV6_TEXT.fullmatch(text):
            return IPv6Address(text)
    except AddressValueError:
        pass
    raise ForbiddenUrl("What stands in brackets must be an IPv6 address, without a zone.")


def _target_of(text: str) -> str:
    sent = quote(text.partition("#")[0], safe=TARGET_CHARACTERS)
    return sent if sent.startswith("/") else f"/{sent}"

"""Settings that would leave a door open: refused, but for some where PUBLIC_URL is loopback."""

import re
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS

from payments.vault import keys

SECRET_KEY_MIN_CHARACTERS = 8
KEY_MIN_BYTES = 16
UNVERIFIED_SSLMODES = ("disable", "allow")
LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")

RANDOM_KEYS = "must hold random keys only: head -c 32 /dev/urandom | base64 makes one."
Rule = tuple[str, Callable[[], bool], str]


def is_loopback(host: str) -> bool:
    """Return whether `host` is a name or an address of this very machine."""
    host = host.lower().strip("[]")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_public() -> bool:
    """Return whether other machines reach kaha; False for an unreadable PUBLIC_URL, which another rule refuses."""
    try:
        host = urlsplit(settings.PUBLIC_URL).hostname
    except ValueError:
        return False
    return bool(host) and not is_loopback(host or "")


def _database_is_chosen() -> bool:
    return not (settings.EMBEDDED and _is_public())


def _is_closed_to_the_public(name: str) -> Callable[[], bool]:
    """Return the rule that `name` is on, where neither the embedded servers nor a loopback address allow it off."""
    return lambda: getattr(settings, name) or settings.EMBEDDED or not _is_public()


def _clock_stands_with_live_cards() -> bool:
    return not (settings.KAHA_CLOCK and settings.LIVE_CARDS_ATTESTED)


def _loopback_is_forbidden() -> bool:
    needed = settings.LIVE_CARDS_ATTESTED or (_is_public() and not settings.EMBEDDED)
    return not (settings.NOTIFY_ALLOW_LOOPBACK and needed)


def _secret_key_is_random() -> bool:
    try:
        text = settings.SECRET_KEY
    except ImproperlyConfigured:
        return True  # another rule says so
    repeats = text in (text + text)[1:-1]
    return not text or (len(set(text)) >= SECRET_KEY_MIN_CHARACTERS and not repeats)


def _vault_keys() -> Iterable[bytes]:
    return keys.key_ring().keys.values() if settings.VAULT_KEYS or not settings.VAULT_TRANSIT_URL else ()


def _are_random(read: Callable[[], Iterable[bytes]]) -> Callable[[], bool]:
    """Return the rule that what `read` returns looks random; where it is malformed, another rule says so."""

    def holds() -> bool:
        try:
            return all(map(_looks_random, read()))
        except ImproperlyConfigured:
            return True

    return holds


def _looks_random(key: bytes) -> bool:
    """Return whether a key is neither of few different bytes nor of bytes in arithmetic sequence."""
    steps = {(after - before) % 256 for before, after in pairwise(key)}
    return len(set(key)) >= KEY_MIN_BYTES and len(steps) > 1


def _hosts_are_ours() -> bool:
    """Return whether the operator says of each `.example.com` that all names below it are theirs.

    No list knows that of every domain. One label, `.com`, is nobody's to say.
    """
    domains = {host.lower().strip(".") for host in settings.ALLOWED_HOSTS if host.startswith(".")}
    own = {domain.lower().strip(".") for domain in settings.OWN_DOMAINS}
    return all(is_loopback(name) or ("." in name and (name in own or _is_private(name))) for name in domains)


def _redis_is_verified() -> bool:
    """Return whether the certificate and host name of a Redis over TLS are verified."""
    try:
        options = parse_qs(urlsplit(settings.REDIS_URL).query)
    except ValueError:
        return True  # another rule says so
    required = options.get("ssl_cert_reqs", ["required"]) == ["required"]
    named = all(text.lower() in ("true", "1", "yes") for text in options.get("ssl_check_hostname", []))
    return required and named


def _database_is_encrypted() -> bool:
    """Return whether the connection to PostgreSQL is encrypted, or stays on this machine or its private network."""
    database = settings.DATABASES[DEFAULT_DB_ALIAS]
    options = database.get("OPTIONS", {})
    if options.get("sslmode") not in UNVERIFIED_SSLMODES:
        return True
    hosts = options.get("hostaddr") or options.get("host") or database.get("HOST") or ""
    return all(_is_private(host) for host in re.split(r"[,\s]+", str(hosts)))


def _is_private(host: str) -> bool:
    """Return whether `host` is a socket, this machine, a private address, or a name that no public DNS resolves."""
    if not host or host.startswith(("/", "@")) or is_loopback(host):
        return True
    try:
        return ip_address(host.strip("[]")).is_private
    except ValueError:
        return "." not in host.strip(".") or host.lower().endswith(LOCAL_SUFFIXES)


ENCRYPTED = "must not have sslmode=disable or allow to a host outside of your private network: use sslmode=verify-full."
UNSAFE_RULES: list[Rule] = [
    (
        "DATABASE_URL",
        _database_is_chosen,
        "must name your PostgreSQL, for PUBLIC_URL is not loopback: the embedded servers are for this machine alone.",
    ),
    (
        "HTTPS",
        _is_closed_to_the_public("HTTPS"),
        "must be true where PUBLIC_URL is not loopback: let a proxy end TLS and set TRUSTED_PROXIES.",
    ),
    (
        "ADMIN_MFA",
        _is_closed_to_the_public("ADMIN_MFA"),
        "must be true where PUBLIC_URL is not loopback: operators enrol a second factor when they sign in.",
    ),
    (
        "KAHA_CLOCK",
        _clock_stands_with_live_cards,
        "must be false beside LIVE_CARDS_ATTESTED: move time in an installation without live cards.",
    ),
    (
        "NOTIFY_ALLOW_LOOPBACK",
        _loopback_is_forbidden,
        "must be false beside LIVE_CARDS_ATTESTED and where PUBLIC_URL is not loopback: give receivers an address.",
    ),
    (
        "SECRET_KEY",
        _secret_key_is_random,
        "must be random, not a few characters repeated: "
        "python -c 'import secrets; print(secrets.token_urlsafe(64))' makes one.",
    ),
    ("VAULT_KEYS", _are_random(_vault_keys), RANDOM_KEYS),
    ("TRANSPARENCY_KEYS", _are_random(keys.transparency_keys), RANDOM_KEYS),
    (
        "FINGERPRINT_KEY",
        _are_random(lambda: [keys.fingerprint_key()]),
        "must be random: head -c 32 /dev/urandom | base64 makes one.",
    ),
    (
        "ALLOWED_HOSTS",
        _hosts_are_ours,
        "must name each host. For all below a domain, such as .example.com, put it into OWN_DOMAINS too, if every name "
        "below it is yours. Below .com or .com.ph others have names.",
    ),
    (
        "REDIS_URL",
        _redis_is_verified,
        "must leave ssl_cert_reqs=required and ssl_check_hostname on: name your own CA by ssl_ca_certs=FILE.",
    ),
    ("DATABASE_URL", _database_is_encrypted, ENCRYPTED),
]

"""Checks of the configuration at boot; commands and servers report all faults at once."""

import logging
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.http.request import split_domain_port, validate_host

from config.boot.exports import EXPORT_RULES
from config.boot.extras import has_package, needs
from config.boot.unsafe_settings import UNSAFE_RULES
from payments.hosts import OWN, is_own
from payments.providers import hosts
from payments.providers.adyen import channels as adyen
from payments.providers.xendit import channels as xendit
from payments.redis_client import sentinel
from payments.redis_client.rate_counters import parse_rate
from payments.vault import keys

logger = logging.getLogger("kaha.boot")

LAST_HOUR = 23
CONFIGURATION = "configuration"
SECRET_KEY_MIN_LENGTH = 50
POSTGRESQL_MIN_VERSION = (15,)
NOTIFY_PORTS = {"443", "80", "8443"}
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
TRANSIT_KEY = re.compile(r"[A-Za-z0-9_.-]{1,100}")
HEADER_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,49}")
CELL_NAME = re.compile(r"(?:[a-z][a-z0-9]{0,7})?")
BANK_NAME = re.compile(r"[A-Za-z0-9/?:().,'+ -]{1,70}")
# Settings with a host that serves one part of kaha alone.
HOST = re.compile(r"\.?[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++)*+|\[[0-9a-fA-F:]++\]")


@register(CONFIGURATION)
def check_environment(**_: Any) -> list[CheckMessage]:
    """Return an error for each malformed environment variable. No message shows a value, for it may be a secret."""
    wrong = [
        *settings.ENVIRONMENT_FAULTS.items(),
        *((name, form) for name, holds, form in [*RULES, *EXPORT_RULES, *UNSAFE_RULES] if not holds()),
        *((name, form) for name, fits, form in VALUE_RULES if not fits(getattr(settings, name))),
    ]
    return [_error(name, form) for name, form in wrong]


@register(Tags.database)
def check_database_version(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Return an error where the database is too old. Needs a connection, so only commands that use one run it."""
    versions = [connections[alias].get_database_version() for alias in databases or ()]
    return [fault for version in versions for fault in version_faults(version)]


def version_faults(version: tuple[int, ...]) -> list[CheckMessage]:
    """Return what is wrong with a server of this version, such as (15, 4)."""
    if version >= POSTGRESQL_MIN_VERSION:
        return []
    return [_error("DATABASE_URL", f"must name a server of PostgreSQL {POSTGRESQL_MIN_VERSION[0]} or later.")]


def refuse_bad_configuration() -> None:
    """End this process, with one line for each fault, where the environment is wrong.

    For the programs that do not run Django's checks by themselves: the web server and the worker.
    """
    faults = [f"  {fault.msg}" for fault in run_checks(tags=[CONFIGURATION])]
    if faults:
        sys.exit("\n".join(["kaha does not start:", *faults]))


def log_live_cards() -> None:
    """Log whether live mode takes cards, and what the operator of this installation then answers for."""
    status = "on by LIVE_CARDS_ATTESTED" if settings.LIVE_CARDS_ATTESTED else "off until LIVE_CARDS_ATTESTED is set"
    logger.info("live cards are %s: with live cards, the company that runs this answers for PCI DSS (SAQ-D)", status)


def _error(name: str, form: str) -> Error:
    return Error(f"{name} {form}", id=f"{CONFIGURATION}.{name}")


def _secret_key_is_long() -> bool:
    try:
        return len(settings.SECRET_KEY) >= SECRET_KEY_MIN_LENGTH
    except ImproperlyConfigured:  # Django's own answer to an empty one
        return False


def _is_well_formed(read: Callable[[], object]) -> bool:
    try:
        read()
    except ImproperlyConfigured:
        return False
    return True


def _vault_keys_are_well_formed() -> bool:
    if settings.VAULT_TRANSIT_URL and not settings.VAULT_KEYS:
        return True
    return _is_well_formed(keys.key_ring)


def _transit_url_is_safe() -> bool:
    url = settings.VAULT_TRANSIT_URL
    return not url or (_is_safe(url) and not urlsplit(url).path)


def _is_safe(address: str) -> bool:
    """Return whether requests to `address` are encrypted, or stay on this machine."""
    try:
        url = urlsplit(address)
        names_server = bool(url.hostname) and (url.port is None or url.port > 0) and not (url.query or url.fragment)
    except ValueError:
        return False
    return names_server and (url.scheme == "https" or (url.scheme == "http" and url.hostname in LOOPBACK))


def _is_providers(address: str, domains: Sequence[str]) -> bool:
    """Return whether `address` is a host of the provider, or on this machine."""
    return _is_safe(address) and (hosts.is_loopback_address(address) or hosts.is_provider_address(address, domains))


def _transit_token_is_there() -> bool:
    try:
        return not settings.VAULT_TRANSIT_URL or bool(Path(settings.VAULT_TRANSIT_TOKEN_FILE).read_text().strip())
    except (OSError, ValueError):
        return False


def _hosts_are_names() -> bool:
    return bool(settings.ALLOWED_HOSTS) and all(HOST.fullmatch(host) for host in settings.ALLOWED_HOSTS)


def _public_url_is_absolute() -> bool:
    try:
        url = urlsplit(settings.PUBLIC_URL)
        has_port = url.port is None or url.port > 0
    except ValueError:
        return False
    schemes = ["https"] if settings.HTTPS else ["https", "http"]
    return url.scheme in schemes and bool(url.hostname) and has_port and not (url.path or url.query or url.fragment)


def _public_host_is_allowed() -> bool:
    if not (_public_url_is_absolute() and _hosts_are_names()):
        return True  # another rule says so
    host, _ = split_domain_port(urlsplit(settings.PUBLIC_URL).netloc)
    return validate_host(host, settings.ALLOWED_HOSTS)


def _is_unset_or_https(text: str) -> bool:
    try:
        url = urlsplit(text)
    except ValueError:
        return False
    return not text or (url.scheme == "https" and bool(url.hostname))


def _is_rate(text: str) -> bool:
    try:
        return parse_rate(text)[0] > 0
    except ValueError:
        return False


def _are_the_webs(ports: list[str]) -> bool:
    return bool(ports) and NOTIFY_PORTS.issuperset(ports)


def _is_redis(url: str) -> bool:
    if not url.startswith(sentinel.SCHEMES):
        return url.startswith(("redis://", "rediss://", "unix://"))
    try:
        sentinel.SentinelAddress.parse(url)
    except ValueError:
        return False
    return True


TRANSIT_KEY_FORM = 'must be 1 to 100 letters, digits, "_", "." or "-".'
XENDIT_FORM = "must be https://api.xendit.co, or an address on loopback for trials."
ADYEN_FORM = "must be an https:// address of Adyen, or one on loopback for trials."
OWN_HOST_FORM = "must be one of ALLOWED_HOSTS, not the host of PUBLIC_URL and of no other setting."
REDIS_FORM = (
    "must start with redis://, rediss:// or unix://, or look like "
    "redis+sentinel://:password@host:26379,host:26379/name (rediss+sentinel:// with TLS)."
)
RATE_FORM = "must be a number and a time, such as 300/second."
RULES: list[tuple[str, Callable[[], bool], str]] = [
    ("SECRET_KEY", _secret_key_is_long, f"must be at least {SECRET_KEY_MIN_LENGTH} random characters."),
    ("VAULT_KEYS", _vault_keys_are_well_formed, keys.RING_FORM),
    ("TRANSPARENCY_KEYS", lambda: _is_well_formed(keys.transparency_keys), keys.RING_FORM),
    (
        "VAULT_TRANSIT_URL",
        _transit_url_is_safe,
        "must be scheme, host and port only, with https:// unless on loopback.",
    ),
    ("VAULT_TRANSIT_URL", lambda: not settings.VAULT_TRANSIT_URL or has_package("hvac"), needs("vault")),
    ("VAULT_TRANSIT_TOKEN_FILE", _transit_token_is_there, "must name a file that holds a token."),
    ("FINGERPRINT_KEY", lambda: _is_well_formed(keys.fingerprint_key), keys.FINGERPRINT_KEY_FORM),
    (
        "PUBLIC_URL",
        _public_url_is_absolute,
        "must be scheme and host only, with https:// unless HTTPS=false.",
    ),
    ("ALLOWED_HOSTS", _hosts_are_names, "must be host names separated by commas, without scheme, port or *."),
    ("ALLOWED_HOSTS", _public_host_is_allowed, "must name the host of PUBLIC_URL."),
    *((name, partial(is_own, name), OWN_HOST_FORM) for name in OWN),
    (
        "PAYOUT_DEBTOR_NAME",
        lambda: not settings.PAYOUT_DEBTOR_ACCOUNTS or bool(BANK_NAME.fullmatch(settings.PAYOUT_DEBTOR_NAME)),
        "must be at most 70 of the characters a-z A-Z 0-9 space / - ? : ( ) . , ' + beside PAYOUT_DEBTOR_ACCOUNTS.",
    ),
]
# Rules of the value of a setting alone.
VALUE_RULES: list[tuple[str, Callable[[Any], object], str]] = [
    ("VAULT_TRANSIT_KEY", TRANSIT_KEY.fullmatch, TRANSIT_KEY_FORM),
    ("XENDIT_URL", lambda url: _is_providers(url, xendit.DOMAINS), XENDIT_FORM),
    ("ADYEN_URL", lambda url: not url or _is_providers(url, adyen.DOMAINS), ADYEN_FORM),
    ("REDIS_URL", _is_redis, REDIS_FORM),
    ("DATABASE_POOLER", ("", "transaction").__contains__, "must be transaction, or not be set."),
    ("NOTIFY_PORTS", _are_the_webs, "must be ports separated by commas, of 443, 80 and 8443."),
    ("CELL", CELL_NAME.fullmatch, "must be a letter and up to 7 letters or digits, all small."),
    ("NOTIFY_HEADER_PREFIX", HEADER_PREFIX.fullmatch, "must be letters, digits and hyphens, such as X-Kaha."),
    ("CHAT_WEBHOOK_URL", _is_unset_or_https, "must be the https:// address of an incoming webhook."),
    ("SMS_URL", _is_unset_or_https, "must be the https:// address of a service that sends SMS."),
    ("CHAT_WEBHOOK_MODE", ("each", "digest").__contains__, "must be each or digest."),
    ("DIGEST_HOUR", lambda hour: hour <= LAST_HOUR, "must be an hour from 0 to 23."),
    ("RATE_LIMIT", _is_rate, RATE_FORM),
    ("RATE_LIMIT_ANONYMOUS", _is_rate, RATE_FORM),
]

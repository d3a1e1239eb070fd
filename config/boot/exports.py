"""The settings of metrics, traces and errors; the last two need packages that not every installation has."""

from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from config.boot.environment import Environment
from config.boot.extras import has_package, needs
from config.boot.unsafe_settings import Rule, is_loopback


def dsn(env: Environment) -> str:
    """Return where errors go; "" for nowhere."""
    return env.text("SENTRY_DSN").strip()


def usable_dsn(env: Environment) -> str:
    """Return a DSN that Sentry's SDK takes, or "", so that the log can be set up before the checks refuse another."""
    given = dsn(env)
    return given if given and has_package(SENTRY) and _is_dsn(given) else ""


def _parts(url: str) -> SplitResult | None:
    """Return the parts of an http or https URL with a host; None for anything else."""
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if is_web else None


def _is_encrypted(parts: SplitResult) -> bool:
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


def _is_dsn(text: str) -> bool:
    from sentry_sdk.utils import BadDsn, Dsn

    try:
        Dsn(text)
    except BadDsn:
        return False
    parts = _parts(text)
    return parts is not None and _is_encrypted(parts)


def _is_endpoint(url: str) -> bool:
    parts = _parts(url)
    return parts is not None and not (parts.username or parts.password or parts.query or parts.fragment)


def _headers_are_encrypted(_: object) -> bool:
    parts = _parts(getattr(settings, ENDPOINT))
    return parts is None or _is_encrypted(parts)


def _where_set(name: str, holds: Callable[[Any], bool]) -> Callable[[], bool]:
    """Return the rule that the setting `name` is empty, or that `holds` of its value."""
    return lambda: not getattr(settings, name) or holds(getattr(settings, name))


OTLP, SENTRY = "opentelemetry.exporter.otlp.proto.http", "sentry_sdk"
ENDPOINT, HEADERS, DSN = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "SENTRY_DSN"
ENDPOINT_FORM = "must be the http:// or https:// address of a collector, such as http://127.0.0.1:4318."
DSN_FORM = "must be a DSN of Sentry, such as https://key@sentry.example.com/1, with https:// unless on loopback."
MISSING_FORM = needs("observability")
EXPORT_RULES: list[Rule] = [
    (ENDPOINT, _where_set(ENDPOINT, _is_endpoint), ENDPOINT_FORM),
    (ENDPOINT, _where_set(ENDPOINT, lambda _: has_package(OTLP)), MISSING_FORM),
    (HEADERS, _where_set(HEADERS, _headers_are_encrypted), "needs an https:// endpoint, unless on loopback."),
    (DSN, _where_set(DSN, lambda _: has_package(SENTRY)), MISSING_FORM),
    (DSN, _where_set(DSN, lambda text: not has_package(SENTRY) or _is_dsn(text)), DSN_FORM),
]

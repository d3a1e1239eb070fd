"""Facts about the service, each read by a few statements that end after STATEMENT_LIMIT.

What `/ready` looks at too is read through Django's connection, or through a probe of its own outside the pool.
"""

import socket
import ssl
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.models import Q

from payments import clock
from payments.concurrency.connections import limit_statements
from payments.db.partitions import ALL, REQUESTS, after, month_of
from payments.domain.audit import hash_chain
from payments.domain.messages.mail import REFUSES_US
from payments.domain.routing.route_health import OUTAGES_IN_A_ROW, health_of, recent_attempts
from payments.models import (
    ApiKey,
    Attempt,
    BinRange,
    Notification,
    PayerMessage,
    ReconciliationRun,
    Route,
    UnknownOutcome,
)
from payments.providers.registry import CONNECTORS, PROVIDERS
from payments.redis_client.pipeline import RedisPipeline
from payments.vault.base import Purpose
from payments.vault.key_wraps import WrappedKey

STATEMENT_LIMIT = "3s"
HANDSHAKE_SECONDS = 3.0
ROUTES_MAX = 500
COUNTED_MAX = 1_000
AUDIT_ENTRIES_READ = 200
KEY_WARNING = timedelta(days=14)
MESSAGE_MAX_AGE = timedelta(hours=1)

STANDBYS = """
SELECT application_name, coalesce(extract(epoch FROM replay_lag), 0)::float8,
    coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint
FROM pg_stat_replication WHERE state IN ('streaming', 'catchup') AND replay_lsn IS NOT NULL
ORDER BY application_name LIMIT 20
"""
SLOTS = """
SELECT slot_name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint FROM pg_replication_slots
WHERE NOT active AND restart_lsn IS NOT NULL ORDER BY restart_lsn LIMIT 20
"""
SEALING_KEYS = "SELECT id, purpose, kek, wrapped, created_at FROM payments_datakey WHERE destroyed_at IS NULL"
# A standby does not have them.
CVC_KEYS = " UNION ALL SELECT id, 'cvc', kek, wrapped, created_at FROM payments_cvckey"
ONE_OF_EACH = """
SELECT DISTINCT ON (kek) id, purpose, kek, wrapped, created_at FROM ({}) AS wrapped_key
ORDER BY kek, purpose = 'cvc', created_at DESC
"""
DATABASE = """
SELECT pg_database_size(current_database()), current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int, (SELECT sum(numbackends)::int FROM pg_stat_database)
"""


@dataclass(frozen=True, slots=True)
class OpenCircuit:
    """A route whose newest calls all ended without an answer of its provider."""

    provider: str
    merchant: str
    source_type: str


@dataclass(frozen=True, slots=True)
class LateMessages:
    """Since when messages wait, and why, of each at most COUNTED_MAX, the oldest first."""

    to_payers: Sequence[tuple[datetime, str]]
    to_operators: Sequence[tuple[datetime, str]]


@dataclass(frozen=True, slots=True)
class Unknown:
    """When the attempts without an outcome were made, of at most COUNTED_MAX, the oldest first."""

    moments: Sequence[datetime]

    @property
    def count(self) -> int:
        return len(self.moments)

    @property
    def since(self) -> datetime | None:
        return min(self.moments, default=None)


@dataclass(frozen=True, slots=True)
class Partitions:
    """The first days of a table's partitions, and those that must be there: one now, and one soon.

    Without one of `used`, this month's and the next, no charge can be made then; they are empty for other tables.
    """

    table: str
    starts: Sequence[date]
    used: Sequence[date]
    needed: date

    @property
    def last(self) -> date | None:
        return max(self.starts, default=None)

    @property
    def missing(self) -> date | None:
        """Return the first day that must have a partition and has none."""
        is_short = self.last is None or self.last < self.needed
        return next((day for day in self.used if day not in self.starts), self.needed if is_short else None)


@dataclass(frozen=True, slots=True)
class DatabaseUse:
    """The size of the database, and the connections in use of those that kaha may have."""

    size_bytes: int
    connections_max: int
    connections: int


@dataclass(frozen=True, slots=True)
class Replication:
    """Standbys of the primary with their delay in seconds and bytes, and unused slots with the bytes that they keep."""

    standbys: Sequence[tuple[str, float, int]]
    unused_slots: Sequence[tuple[str, int]]


@contextmanager
def bounded() -> Iterator[None]:
    """Bound the statements of a transaction to STATEMENT_LIMIT each."""
    with transaction.atomic():
        limit_statements(STATEMENT_LIMIT)
        yield


def unapplied_migrations(database: Any = connection) -> list[str]:
    """Return the migrations of this version that the database has not; later ones of the database may be."""
    with database.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
        applied = set()
        if cursor.fetchone()[0]:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    return [f"{app}.{name}" for app, name in _own_migrations() if (app, name) not in applied]


@cache
def _own_migrations() -> Sequence[tuple[str, str]]:
    """Return the migrations of this version in the order in which they are applied."""
    graph = MigrationLoader(None, ignore_no_migrations=True).graph
    return list(dict.fromkeys(node for leaf in graph.leaf_nodes() for node in graph.forwards_plan(leaf)))


def redis_fault() -> str:
    """Return the class of the error of a ping, "" if Redis answers."""
    try:
        RedisPipeline(settings.REDIS_URL).ask([("PING",)])
    except Exception as error:  # noqa: BLE001 # whatever its client raises, it does not answer
        return type(error).__name__
    return ""


def clock_difference() -> timedelta:
    """Return by how much this host's clock is ahead of the database's, accurate to half a round trip."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        before = datetime.now(UTC)
        cursor.execute("SELECT clock_timestamp()")
        [there] = cursor.fetchone()
    return before + (datetime.now(UTC) - before) / 2 - there


def open_circuits() -> list[OpenCircuit]:
    """Return the routes in use whose newest calls within minutes all failed."""
    routes = Route.objects.filter(enabled=True).select_related("account__merchant").annotate(recent=recent_attempts())
    found = []
    for route in routes[:ROUTES_MAX]:
        health = health_of(route.recent)
        if health.open_seconds or health.asked == health.outages >= OUTAGES_IN_A_ROW:
            found.append(OpenCircuit(route.account.provider, route.account.merchant.title, route.source_type))
    return found


def unknown_outcomes() -> Unknown:
    rows = UnknownOutcome.objects.exclude(kind=Attempt.Kind.REVERSE).order_by("created_at")
    return Unknown(list(rows.values_list("created_at", flat=True)[:COUNTED_MAX]))


def late_messages() -> LateMessages:
    """Return the messages to payers and to operators that wait for too long or that are refused, the oldest first."""
    old = Q(created_at__lt=clock.now() - MESSAGE_MAX_AGE)
    rows = PayerMessage.objects.filter(old | Q(why__startswith=REFUSES_US), due_at__isnull=False)
    to_payers = rows.order_by("created_at").values_list("created_at", "why")[:COUNTED_MAX]
    # What waits to be sent together with others was not tried.
    tried = Notification.objects.filter(old, due_at__isnull=False, tries__gt=0).order_by("created_at")
    return LateMessages(list(to_payers), list(tried.values_list("created_at", "why")[:COUNTED_MAX]))


def partitions(database: Any = connection) -> list[Partitions]:
    """Return the partitions of each table: of the second month or day after this one, there must be one by now."""
    now = clock.now()
    month = month_of(now)
    with database.cursor() as cursor:
        of_months = [
            Partitions(each.table, each.starts(cursor), (month, after(month)), after(month, 2)) for each in ALL
        ]
        days = Partitions(REQUESTS.table, REQUESTS.starts(cursor), (), now.date() + timedelta(days=2))
    return [*of_months, days]


def database_use() -> DatabaseUse:
    with connection.cursor() as cursor:
        cursor.execute(DATABASE)
        return DatabaseUse(*cursor.fetchone())


def replication() -> Replication:
    """Return what the role may see; a role without `pg_monitor` sees no standby."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery()")
        if cursor.fetchone()[0]:
            return Replication([], [])
        cursor.execute(STANDBYS)
        standbys = cursor.fetchall()
        cursor.execute(SLOTS)
        return Replication(standbys, cursor.fetchall())


def expiring_api_keys() -> list[ApiKey]:
    """Return the live keys that were used and expire within KEY_WARNING, the next one first."""
    until = clock.now() + KEY_WARNING
    rows = ApiKey.objects.filter(
        livemode=True, revoked_at=None, last_used_at__isnull=False, expires_at__gt=clock.now(), expires_at__lte=until
    )
    return list(rows.select_related("merchant").order_by("expires_at")[:COUNTED_MAX])


def lacks_bin_table() -> bool:
    """Return whether live cards are taken and the BIN table has no range."""
    return bool(settings.LIVE_CARDS_ATTESTED) and not BinRange.objects.exists()


def sealing_keys(database: Any = connection) -> list[WrappedKey]:
    """Return a data key of each key-encryption key in use, rather the newest one of cards than one of a CVC."""
    with database.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery()")
        [is_standby] = cursor.fetchone()
        cursor.execute(ONE_OF_EACH.format(SEALING_KEYS if is_standby else SEALING_KEYS + CVC_KEYS))
        return [
            WrappedKey(key_id, Purpose(purpose), kek, bytes(wrapped), created_at)
            for key_id, purpose, kek, wrapped, created_at in cursor.fetchall()
        ]


def newest_reports() -> dict[str, datetime]:
    """Return the end of the newest settlement report of each provider that has one."""
    newest = {}
    for provider in (*PROVIDERS, *CONNECTORS):
        runs = ReconciliationRun.objects.filter(provider=provider).order_by("-covers_to")
        if end := runs.values_list("covers_to", flat=True).first():
            newest[provider] = end
    return newest


def audit_fault() -> str:
    """Return what is wrong with the newest entries of the audit log, "" if nothing."""
    return hash_chain.newest_fault(AUDIT_ENTRIES_READ)


def certificate_end() -> datetime | None:
    """Return when the certificate at PUBLIC_URL ends; None where there is none to be seen from here."""
    url = urlsplit(settings.PUBLIC_URL)
    if url.scheme != "https" or not url.hostname:
        return None
    # An invalid one is to be read too; nothing is sent to the server.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((url.hostname, url.port or 443), HANDSHAKE_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=url.hostname) as secured,
        ):
            found = secured.getpeercert(binary_form=True)
    except OSError:
        return None
    return x509.load_der_x509_certificate(found).not_valid_after_utc if found else None


def python_options() -> str:
    """Return the options that this Python was built with."""
    return sysconfig.get_config_var("CONFIG_ARGS") or ""

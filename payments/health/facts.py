"""Facts about the service, each read by a few bounded statements that end after STATEMENT_LIMIT."""

import socket
import ssl
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlsplit

from cryptography import x509
from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from payments import clock
from payments.connections import limit_statements
from payments.db.partitions import ALL, REQUESTS, PartitionedTable
from payments.domain.routing.route_health import OUTAGES_IN_A_ROW, health_of, recent_attempts
from payments.models import ApiKey, Attempt, Route, UnknownOutcome
from payments.redis_client.pipeline import RedisPipeline
from payments.vault.base import VaultError, VaultUnavailable
from payments.vault.key_wraps import WrappedKey, unwrap

STATEMENT_LIMIT = "3s"
HANDSHAKE_SECONDS = 3.0
ROUTES_MAX = 500
COUNTED_MAX = 1_000
KEY_WARNING = timedelta(days=14)

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
    """The last day that a partitioned table has a partition for begins at `last`; `needed` must be there."""

    table: str
    last: date | None
    needed: date


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


def unapplied_migrations() -> list[str]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


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


def partitions() -> list[Partitions]:
    """Return the last partition of each table, and which must be there by now."""
    today = clock.now().date()
    with connection.cursor() as cursor:
        return [
            Partitions(each.table, max(each.starts(cursor), default=None), _needed(each, today)) for each in ALL
        ] + [Partitions(REQUESTS.table, max(REQUESTS.starts(cursor), default=None), _needed(REQUESTS, today))]


def _needed(table: PartitionedTable, today: date) -> date:
    """Return the first day of the second partition after that of `today`."""
    of_today = today if table is REQUESTS else today.replace(day=1)
    return table.next(table.next(of_today))


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


def unusable(keys: Iterable[WrappedKey]) -> list[str]:
    """Return the names of the key-encryption keys that do not unwrap the data keys they wrapped."""
    samples = {key.kek: key for key in keys}
    return sorted(kek for kek, key in samples.items() if not _unwraps(key))


def _unwraps(key: WrappedKey) -> bool:
    try:
        unwrap(key)
    except (VaultUnavailable, VaultError):
        return False
    return True


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

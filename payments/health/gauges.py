"""The gauges by which Prometheus reads the facts of the service."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from payments import clock
from payments.health.facts import AUDIT_ENTRIES_READ, DatabaseUse, OpenCircuit, Partitions, Unknown
from payments.models import MoneyCheck
from payments.providers.registry import CONNECTORS, PROVIDERS
from payments.sweeps.state import WorkerState
from payments.sweeps.table import SWEEPS
from payments.sweeps.webhook_queues import Queue

# Bands of the age of unknown outcomes, each with its upper end.
AGES = {
    "below 15 minutes": timedelta(minutes=15),
    "15 minutes to 1 hour": timedelta(hours=1),
    "1 hour to 1 day": timedelta(days=1),
    "above 1 day": timedelta.max,
}


def gauge(name: str, text: str, value: float | Mapping[str, float], label: str = "") -> Metric:
    """Return a gauge with one value, or one for each value of its `label`."""
    family = GaugeMetricFamily(name, text, labels=[label] if label else [])
    for key, number in value.items() if isinstance(value, Mapping) else [("", value)]:
        family.add_metric([key] if label else [], float(number))
    return family


def workers(state: WorkerState) -> Iterator[Metric]:
    newest = max((worker.seen_at for worker in state.workers), default=None)
    yield gauge("kaha_workers", "Workers that were seen within a minute.", len(state.alive))
    yield gauge("kaha_workers_silent", "Workers that ended without recording it.", len(state.silent))
    yield gauge("kaha_worker_heartbeat_age_seconds", "Since the newest heartbeat.", _age(newest, state.now, default=-1))
    behind = dict.fromkeys(SWEEPS, 0.0) | {each.sweep.name: 1.0 for each in state.behind()}
    yield gauge("kaha_sweep_behind", "Whether a sweep is behind, though a worker works.", behind, "sweep")
    oldest = {each.name: _age(each.oldest_due_at, state.now) for each in state.sweeps}
    yield gauge("kaha_sweep_oldest_due_seconds", "For how long the oldest item is due.", oldest, "sweep")


def circuits(found: Sequence[OpenCircuit]) -> Iterator[Metric]:
    counts = dict.fromkeys([*PROVIDERS, *CONNECTORS], 0.0)
    for each in found:
        counts[each.provider] += 1
    yield gauge("kaha_circuits_open", "Routes whose newest calls all failed, by provider.", counts, "provider")


def unknown_outcomes(found: Unknown) -> Iterator[Metric]:
    now = clock.now()
    counts = dict.fromkeys(AGES, 0.0)
    for moment in found.moments:
        counts[next(name for name, end in AGES.items() if now - moment < end)] += 1
    yield gauge("kaha_unknown_outcomes", "Attempts without an outcome, by age.", counts, "age")
    yield gauge("kaha_unknown_outcome_oldest_seconds", "Age of the oldest of them.", _age(found.since, now))


def webhooks(found: Sequence[Queue]) -> Iterator[Metric]:
    now = clock.now()
    due = [each for each in found if each.due]
    failing = [each for each in found if each.failing]
    yield gauge("kaha_webhooks_due", "Webhooks that are due, at most 1,000 a receiver.", sum(each.due for each in due))
    oldest = min((each.oldest_due_at for each in due), default=None)
    yield gauge("kaha_webhook_oldest_due_seconds", "For how long the oldest of them is due.", _age(oldest, now))
    waiting = min((each.oldest_due_at for each in due if not (each.failing or each.is_served)), default=None)
    yield gauge("kaha_webhook_unserved_seconds", "The same, of those that no worker has begun.", _age(waiting, now))
    yield gauge("kaha_webhook_receivers_failing", "Receivers with failed webhooks that are tried again.", len(failing))


def money_check(check: MoneyCheck | None) -> Iterator[Metric]:
    age = _age(check.started_at if check else None, clock.now(), default=-1)
    yield gauge("kaha_money_check_age_seconds", "Since the last whole money check; -1 before the first.", age)
    yield gauge("kaha_money_check_failures", "Invariants that it found broken.", len(check.failures) if check else 0)


def partitions(found: Sequence[Partitions]) -> Iterator[Metric]:
    today = clock.now().date()
    ahead = {each.table: float((each.last - today).days) if each.last else -1.0 for each in found}
    missing = {each.table: float(each.missing is not None) for each in found}
    yield gauge("kaha_partition_days_ahead", "Days until the last partition begins.", ahead, "table")
    yield gauge("kaha_partition_missing", "Whether a partition is missing that is needed soon.", missing, "table")


def reconciliation(newest: Mapping[str, datetime]) -> Iterator[Metric]:
    now = clock.now()
    ages = {provider: _age(end, now) for provider, end in newest.items()}
    yield gauge("kaha_reconciliation_age_seconds", "Since the end of the newest report.", ages, "provider")


def database(use: DatabaseUse) -> Iterator[Metric]:
    yield gauge("kaha_database_bytes", "Size of the database.", use.size_bytes)
    yield gauge("kaha_database_disk_bytes", "DATABASE_DISK_GB; 0 for unknown.", settings.DATABASE_DISK_GB * 10**9)
    yield gauge("kaha_database_connections", "Connections to PostgreSQL, of all programs.", use.connections)
    yield gauge("kaha_database_connections_max", "Connections that PostgreSQL accepts.", use.connections_max)


def audit(fault: str) -> Iterator[Metric]:
    text = f"Whether the newest {AUDIT_ENTRIES_READ} entries of the audit log follow each other, up to its head."
    yield gauge("kaha_audit_chain_intact", text, not fault)


def redis(fault: str) -> Iterator[Metric]:
    yield gauge("kaha_redis_up", "Whether Redis answers.", not fault)


def _age(moment: datetime | None, now: datetime, default: float = 0) -> float:
    return max((now - moment).total_seconds(), 0.0) if moment else default

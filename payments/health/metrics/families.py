"""The families of metrics that are facts of the service, by the functions that read them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from payments import clock
from payments.domain.audit import hash_chain
from payments.health import facts
from payments.models import MoneyCheck, ReconciliationRun
from payments.providers.registry import CONNECTORS, PROVIDERS
from payments.sweeps.schedule import SWEEPS
from payments.sweeps.state import read_state
from payments.sweeps.webhook_queues import queues

# Bands of the age of unknown outcomes, each with its upper end.
AGES = {
    "below 15 minutes": timedelta(minutes=15),
    "15 minutes to 1 hour": timedelta(hours=1),
    "1 hour to 1 day": timedelta(days=1),
    "above 1 day": timedelta.max,
}
AUDIT_ENTRIES_READ = 200


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics that are read together."""

    name: str
    read: Callable[[], Iterator[Metric]]
    of_database: bool = True


def gauge(name: str, text: str, value: float | Mapping[str, float], label: str = "") -> Metric:
    """Return a gauge with one value, or one for each value of its `label`."""
    family = GaugeMetricFamily(name, text, labels=[label] if label else [])
    for key, number in value.items() if isinstance(value, Mapping) else [("", value)]:
        family.add_metric([key] if label else [], float(number))
    return family


def _workers() -> Iterator[Metric]:
    state = read_state()
    newest = max((worker.seen_at for worker in state.workers), default=None)
    yield gauge("kaha_workers", "Workers that were seen within a minute.", len(state.alive))
    yield gauge("kaha_workers_silent", "Workers that ended without recording it.", len(state.silent))
    yield gauge("kaha_worker_heartbeat_age_seconds", "Since the newest heartbeat.", _age(newest, state.now, default=-1))
    behind = dict.fromkeys(SWEEPS, 0.0) | {each.name: 1.0 for each in state.behind()}
    yield gauge("kaha_sweep_behind", "Whether a sweep is behind, though a worker works.", behind, "sweep")
    oldest = {each.name: _age(each.oldest_due_at, state.now) for each in state.sweeps}
    yield gauge("kaha_sweep_oldest_due_seconds", "For how long the oldest item is due.", oldest, "sweep")


def _circuits() -> Iterator[Metric]:
    circuits = dict.fromkeys([*PROVIDERS, *CONNECTORS], 0.0)
    for each in facts.open_circuits():
        circuits[each.provider] += 1
    yield gauge("kaha_circuits_open", "Routes whose newest calls all failed, by provider.", circuits, "provider")


def _unknown_outcomes() -> Iterator[Metric]:
    found, now = facts.unknown_outcomes(), clock.now()
    counts = dict.fromkeys(AGES, 0.0)
    for moment in found.moments:
        counts[next(name for name, end in AGES.items() if now - moment < end)] += 1
    yield gauge("kaha_unknown_outcomes", "Attempts without an outcome, by age.", counts, "age")
    yield gauge("kaha_unknown_outcome_oldest_seconds", "Age of the oldest of them.", _age(found.since, now))


def _webhooks() -> Iterator[Metric]:
    found, now = queues(), clock.now()
    due = [each for each in found if each.due]
    failing = [each for each in found if each.failing]
    yield gauge("kaha_webhooks_due", "Webhooks that are due, at most 1,000 a receiver.", sum(each.due for each in due))
    oldest = min((each.oldest_due_at for each in due), default=None)
    yield gauge("kaha_webhook_oldest_due_seconds", "For how long the oldest of them is due.", _age(oldest, now))
    waiting = min((each.oldest_due_at for each in due if not (each.failing or each.is_served)), default=None)
    yield gauge("kaha_webhook_unserved_seconds", "The same, of those that no worker has begun.", _age(waiting, now))
    yield gauge("kaha_webhook_receivers_failing", "Receivers with failed webhooks that are tried again.", len(failing))


def _money_check() -> Iterator[Metric]:
    check = MoneyCheck.objects.newest_whole()
    age = _age(check.started_at if check else None, clock.now(), default=-1)
    yield gauge("kaha_money_check_age_seconds", "Since the last whole money check; -1 before the first.", age)
    yield gauge("kaha_money_check_failures", "Invariants that it found broken.", len(check.failures) if check else 0)


def _partitions() -> Iterator[Metric]:
    found, today = facts.partitions(), clock.now().date()
    ahead = {each.table: float((each.last - today).days) if each.last else -1.0 for each in found}
    missing = {each.table: float(each.last is None or each.last < each.needed) for each in found}
    yield gauge("kaha_partition_days_ahead", "Days until the last partition begins.", ahead, "table")
    yield gauge("kaha_partition_missing", "Whether a partition is missing that is needed soon.", missing, "table")


def _reconciliation() -> Iterator[Metric]:
    now, ages = clock.now(), dict[str, float]()
    for provider in [*PROVIDERS, *CONNECTORS]:
        runs = ReconciliationRun.objects.filter(provider=provider).order_by("-covers_to")
        if newest := runs.values_list("covers_to", flat=True).first():
            ages[provider] = _age(newest, now)
    yield gauge("kaha_reconciliation_age_seconds", "Since the end of the newest report.", ages, "provider")


def _database() -> Iterator[Metric]:
    use = facts.database_use()
    yield gauge("kaha_database_bytes", "Size of the database.", use.size_bytes)
    yield gauge("kaha_database_disk_bytes", "DATABASE_DISK_GB; 0 for unknown.", settings.DATABASE_DISK_GB * 10**9)
    yield gauge("kaha_database_connections", "Connections to PostgreSQL, of all programs.", use.connections)
    yield gauge("kaha_database_connections_max", "Connections that PostgreSQL accepts.", use.connections_max)


def _audit() -> Iterator[Metric]:
    text = f"Whether the newest {AUDIT_ENTRIES_READ} entries of the audit log follow each other, up to its head."
    yield gauge("kaha_audit_chain_intact", text, not hash_chain.newest_fault(AUDIT_ENTRIES_READ))


def _redis() -> Iterator[Metric]:
    yield gauge("kaha_redis_up", "Whether Redis answers.", not facts.redis_fault())


def _age(moment: datetime | None, now: datetime, default: float = 0) -> float:
    return max((now - moment).total_seconds(), 0.0) if moment else default


FAMILIES = (
    Family("redis", _redis, of_database=False),
    Family("workers", _workers),
    Family("circuits", _circuits),
    Family("unknown_outcomes", _unknown_outcomes),
    Family("webhooks", _webhooks),
    Family("money_check", _money_check),
    Family("partitions", _partitions),
    Family("reconciliation", _reconciliation),
    Family("database", _database),
    Family("audit", _audit),
)

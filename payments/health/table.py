"""The table of facts by which the service is well or not.

The doctor and the page On call show the findings of each, `/ready` the lines of those that it watches, and Prometheus
reads the metrics. A finding has the two flags: whether it stops serving, and whether it is urgent.
"""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from prometheus_client import Metric

from payments.health import facts, findings, gauges
from payments.health.facts import bounded
from payments.health.findings import Finding
from payments.ledger.transparency.heads import size_and_head
from payments.models import MoneyCheck
from payments.sweeps.state import read_state
from payments.sweeps.webhook_queues import queues


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact, how it is read, and what it means. Its section of the guide On call has its `title` as heading."""

    title: str
    read: Callable[..., Any]
    # What is wrong with it; nothing of a fact that only the metrics have.
    judge: Callable[[Any], Iterable[Finding]] | None = None
    metrics: Callable[[Any], Iterable[Metric]] | None = None
    # Of its metrics, in `kaha_fact_read`.
    name: str = ""
    # A read of something else than the database must hold no transaction.
    of_database: bool = True
    # Whether `/ready` looks at it too, and reads it of the database through a probe of its own.
    is_watched: bool = False

    @property
    def guide(self) -> str:
        return f"/docs/on-call#{self.title.lower().replace(' ', '-')}"

    def find(self) -> list[Finding]:
        """Return what is wrong; raise Error where the database does not answer in time."""
        return list(self.judge(self._found())) if self.judge else []

    def measure(self) -> list[Metric]:
        """Return its metrics; raise Error where the database does not answer in time."""
        return list(self.metrics(self._found())) if self.metrics else []

    def _found(self) -> Any:
        with bounded() if self.of_database else nullcontext():
            return self.read()


DATABASE = Fact("Database", facts.database_use, findings.of_database, gauges.database, "database")
FACTS = (
    Fact("Workers", read_state, findings.of_workers, gauges.workers, "workers"),
    Fact("Background tasks", read_state, findings.of_sweeps),
    Fact("Providers", facts.open_circuits, findings.of_providers, gauges.circuits, "circuits"),
    Fact(
        "Unknown outcomes",
        facts.unknown_outcomes,
        findings.of_unknown_outcomes,
        gauges.unknown_outcomes,
        "unknown_outcomes",
    ),
    Fact("Webhooks", queues, findings.of_webhooks, gauges.webhooks, "webhooks"),
    Fact("Messages to payers", facts.late_messages, findings.of_messages),
    Fact("Money check", MoneyCheck.objects.newest_whole, findings.of_money_check, gauges.money_check, "money_check"),
    Fact("Transparency log", size_and_head, findings.of_log_head),
    Fact("Partitions", facts.partitions, findings.of_partitions, gauges.partitions, "partitions", is_watched=True),
    Fact("Migrations", facts.unapplied_migrations, findings.of_migrations, is_watched=True),
    DATABASE,
    Fact("Standbys", facts.replication, findings.of_replication),
    Fact("Clocks", facts.clock_difference, findings.of_clock),
    Fact("Vault keys", facts.sealing_keys, findings.of_vault, is_watched=True),
    Fact("API keys", facts.expiring_api_keys, findings.of_api_keys),
    Fact("BIN table", facts.lacks_bin_table, findings.of_bin_table),
    Fact("Redis", facts.redis_fault, findings.of_redis, gauges.redis, "redis", of_database=False, is_watched=True),
    Fact("Certificate", facts.certificate_end, findings.of_certificate, of_database=False),
    Fact("Python", facts.python_options, findings.of_python, of_database=False),
    Fact("Reconciliation", facts.newest_reports, metrics=gauges.reconciliation, name="reconciliation"),
    Fact("Audit log", facts.audit_fault, metrics=gauges.audit, name="audit"),
)
JUDGED = [fact for fact in FACTS if fact.judge]
# First what needs no database, which may take all the time of a scrape.
MEASURED = sorted((fact for fact in FACTS if fact.metrics), key=attrgetter("of_database"))

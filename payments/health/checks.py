"""All checks of the service, and a report of what they find."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import Error, connection

from payments import clock
from payments.connections import release_connection
from payments.domain.maintenance.data_keys import all_wrapped_keys
from payments.health import facts, findings
from payments.health.facts import bounded
from payments.health.findings import Finding
from payments.models import MoneyCheck
from payments.sweeps.state import read_state
from payments.sweeps.webhook_queues import queues

CACHED_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Check:
    """A check: reads facts and judges them. Its section of the operations guide has its `title` as heading."""

    title: str
    read: Callable[[], Any]
    judge: Callable[[Any], Iterable[Finding]]
    # A read of something else than the database must hold no transaction.
    of_database: bool = True

    @property
    def guide(self) -> str:
        return f"/docs/operations#{self.title.lower().replace(' ', '-')}"

    def find(self) -> list[Finding]:
        """Return what it finds; raise Error where the database does not answer in time."""
        with bounded() if self.of_database else nullcontext():
            found = self.read()
        return list(self.judge(found))


DATABASE = Check("Database", facts.database_use, lambda found: findings.of_database(found, settings.DATABASE_DISK_GB))
CHECKS = (
    Check("Workers", read_state, findings.of_workers),
    Check("Sweeps", read_state, findings.of_sweeps),
    Check("Providers", facts.open_circuits, findings.of_providers),
    Check("Unknown outcomes", facts.unknown_outcomes, lambda found: findings.of_unknown_outcomes(found, clock.now())),
    Check("Webhooks", queues, lambda found: findings.of_webhooks(found, clock.now())),
    Check("Money check", MoneyCheck.objects.newest_whole, lambda found: findings.of_money_check(found, clock.now())),
    Check("Partitions", facts.partitions, findings.of_partitions),
    Check("Migrations", facts.unapplied_migrations, findings.of_migrations),
    DATABASE,
    Check("Standbys", facts.replication, findings.of_replication),
    Check("Clocks", facts.clock_difference, findings.of_clock),
    Check("Vault keys", all_wrapped_keys, lambda found: findings.of_vault(facts.unusable(found))),
    Check("API keys", facts.expiring_api_keys, findings.of_api_keys),
    Check("Redis", facts.redis_fault, findings.of_redis, of_database=False),
    Check(
        "Certificate",
        facts.certificate_end,
        lambda found: findings.of_certificate(found, clock.now()),
        of_database=False,
    ),
)
NO_DATABASE = Finding(
    "PostgreSQL does not answer.", "Start it, or repair the network to it: kaha can do nothing without.", urgent=True
)


@dataclass(frozen=True, slots=True)
class Report:
    """What each check found."""

    results: Sequence[tuple[Check, Sequence[Finding]]]

    @property
    def wrong(self) -> list[tuple[Check, Sequence[Finding]]]:
        """Return the checks with findings, those with an urgent one first."""
        found = [(check, each) for check, each in self.results if each]
        return sorted(found, key=lambda result: not any(finding.urgent for finding in result[1]))

    @property
    def in_order(self) -> list[Check]:
        return [check for check, each in self.results if not each]


def examine() -> Report:
    """Make all checks, one after the other; one that fails itself is a finding."""
    if not database_answers():
        others = [(check, check.find()) for check in CHECKS if not check.of_database]
        return Report([(DATABASE, [NO_DATABASE]), *others])
    return Report([(check, _result_of(check)) for check in CHECKS])


def database_answers() -> bool:
    """Return whether it answers a statement."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True


def _result_of(check: Check) -> list[Finding]:
    try:
        return check.find()
    except Error as error:
        cause = type(error.__cause__ or error).__name__
        return [Finding(f"This could not be checked ({cause}).", "Look at Database, and at the log of PostgreSQL.")]
    finally:
        release_connection()


class RecentReport:
    """A report that is at most CACHED_SECONDS old, so that readers of a page do not repeat its statements."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._report: Report | None = None
        self._made_at = 0.0

    def get(self) -> Report:
        """Return it, made anew if it is too old."""
        with self._lock:
            if self._report is None or time.monotonic() - self._made_at > CACHED_SECONDS:
                self._report, self._made_at = examine(), time.monotonic()
            return self._report

    def forget(self) -> None:
        """Make it anew next time."""
        with self._lock:
            self._report = None


recent_report = RecentReport()

"""What is wrong, for `manage.py doctor` and the page On call."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import Error, connection

from payments.concurrency.connections import release_connection
from payments.health.findings import Finding
from payments.health.table import DATABASE, JUDGED, Fact

CACHED_SECONDS = 10.0
DEGREES = ("urgent", "wrong", "advice")


NO_DATABASE = Finding(
    "PostgreSQL does not answer.", "Start it, or repair the network to it: kaha can do nothing without.", urgent=True
)


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found of each fact."""

    results: Sequence[tuple[Fact, Sequence[Finding]]]

    @property
    def found(self) -> list[tuple[Fact, Sequence[Finding]]]:
        """Return the facts with findings, those with an urgent one first, and advice last."""
        found = [(fact, each) for fact, each in self.results if each]
        return sorted(found, key=lambda result: min(DEGREES.index(finding.degree) for finding in result[1]))

    @property
    def is_well(self) -> bool:
        """Return whether nothing is wrong; advice is nothing wrong."""
        return all(finding.is_advice for _, each in self.results for finding in each)

    @property
    def in_order(self) -> list[Fact]:
        return [fact for fact, each in self.results if not each]


def examine() -> Examination:
    """Look at all facts, one after the other; one that cannot be read is a finding."""
    if not database_answers():
        others = [(fact, fact.find()) for fact in JUDGED if not fact.of_database]
        return Examination([(DATABASE, [NO_DATABASE]), *others])
    return Examination([(fact, _result_of(fact)) for fact in JUDGED])


def database_answers() -> bool:
    """Return whether it answers a statement."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return False
    return True


def _result_of(fact: Fact) -> list[Finding]:
    try:
        return fact.find()
    except Error as error:
        cause = type(error.__cause__ or error).__name__
        return [Finding(f"This could not be checked ({cause}).", "Look at Database, and at the log of PostgreSQL.")]
    finally:
        release_connection()


class RecentExamination:
    """An examination that is at most CACHED_SECONDS old, so that readers of a page do not repeat its statements."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: Examination | None = None
        self._made_at = 0.0

    def get(self) -> Examination:
        """Return it, made anew if it is too old."""
        with self._lock:
            if self._last is None or time.monotonic() - self._made_at > CACHED_SECONDS:
                self._last, self._made_at = examine(), time.monotonic()
            return self._last

    def forget(self) -> None:
        """Make it anew next time."""
        with self._lock:
            self._last = None


recent_examination = RecentExamination()

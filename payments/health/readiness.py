"""Whether this process can serve, known without a query: a thread looks every few seconds."""

import logging
import time
from collections.abc import Iterator
from threading import Event, Thread

import psycopg
from django.db import connection

from payments.db.backend import session
from payments.db.backend.bounded_connection import BoundedConnection
from payments.health import findings
from payments.health.database_monitor import DatabaseMonitor
from payments.health.findings import Finding, lines_of
from payments.health.table import FACTS

logger = logging.getLogger("kaha.health")

PAUSE_SECONDS = 5.0
START_SECONDS = 3.0


class Readiness:
    """What keeps this process from serving, one plain line each, and what it serves without."""

    def __init__(self) -> None:
        self._database = DatabaseMonitor()
        self._faults = ["the first check is under way"]
        self._warnings: list[str] = []
        self._checked = Event()

    def start(self) -> None:
        """Check until the process ends; return after the first check, or after START_SECONDS."""
        self._database.start()
        Thread(target=self._check_for_ever, name="readiness", daemon=True).start()
        self._checked.wait(START_SECONDS)

    @property
    def faults(self) -> list[str]:
        # What else was found is of no use while the database hangs, and may be old.
        return [self._database.fault] if self._database.fault else self._faults

    @property
    def warnings(self) -> list[str]:
        return self._warnings

    def _check_for_ever(self) -> None:
        while True:
            try:
                self._check()
            except Exception as error:  # the next check may succeed
                logger.warning("The readiness of this process could not be checked.", exc_info=error)
            time.sleep(PAUSE_SECONDS)

    def _check(self) -> None:
        found = [finding for fact in FACTS if fact.is_watched and not fact.of_database for finding in fact.find()]
        try:
            with session.open_outside_pool(connection.get_connection_params()) as probe:
                of_database = list(_findings_of(probe))
            self._faults = lines_of(of_database, stops_serving=True)
            found += of_database
        except psycopg.OperationalError:
            # The monitor says so.
            logger.info("The readiness of this process was not checked, because PostgreSQL does not answer.")
        except psycopg.ProgrammingError:
            self._faults = ["the tables are missing; run migrate"]
        self._warnings = lines_of(found, stops_serving=False)
        self._checked.set()


def _findings_of(probe: BoundedConnection) -> Iterator[Finding]:
    """Yield what is wrong for a session like those of this process, which pools and limits may keep from serving."""
    yield from findings.of_limits(session.faults_of(probe, connection.statement_time_seconds))  # type: ignore[attr-defined]
    for fact in FACTS:
        if fact.is_watched and fact.of_database and fact.judge:
            yield from fact.judge(fact.read(probe))

"""Whether this process can serve, known without a query: a thread looks every few seconds."""

import logging
import time
from threading import Event, Thread

import psycopg
from django.db import connection

from payments.db.backend import session
from payments.web.health import checks
from payments.web.health.database_monitor import DatabaseMonitor

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
        warnings = checks.redis()
        try:
            with session.open_outside_pool(connection.get_connection_params()) as probe:
                self._faults = [line for check in checks.FAULTS for line in check(probe)]
                warnings += [line for check in checks.WARNINGS for line in check(probe)]
        except psycopg.OperationalError:
            # The monitor says so.
            logger.info("The readiness of this process was not checked, because PostgreSQL does not answer.")
        except psycopg.ProgrammingError:
            self._faults = ["the tables are missing; run migrate"]
        self._warnings = warnings
        self._checked.set()

"""A monitor of PostgreSQL, which probes about once a second on its own connection and thread."""

import logging
import time
from threading import Event, Thread

import psycopg
from django.db import connection

from payments.db.backend import session

logger = logging.getLogger("kaha.health")

PAUSE_SECONDS = 1.0
# A probe that takes longer counts as failed.
DEADLINE_SECONDS = 3.0
# Detect a server that has disappeared, so that the next probe connects again.
KEEPALIVES = {"keepalives_idle": 3, "keepalives_interval": 1, "keepalives_count": 3, "tcp_user_timeout": 3000}
HANGS, READS_ONLY = "PostgreSQL does not answer", "PostgreSQL takes no writes"


class DatabaseMonitor:
    """What is wrong with the database, known without a query."""

    def __init__(self) -> None:
        self._answered_at: float | None = None
        self._is_read_only = False
        self._probed = Event()

    def start(self) -> None:
        """Probe until the process ends; return after the first probe, or after DEADLINE_SECONDS."""
        Thread(target=self._probe_for_ever, name="database-monitor", daemon=True).start()
        self._probed.wait(DEADLINE_SECONDS)

    @property
    def fault(self) -> str:
        """One line, "" if the last probe succeeded and the next has not waited for longer than DEADLINE_SECONDS."""
        answered_at = self._answered_at
        if answered_at is None or time.monotonic() - answered_at >= PAUSE_SECONDS + DEADLINE_SECONDS:
            return READS_ONLY if self._is_read_only else HANGS
        return ""

    def _probe_for_ever(self) -> None:
        while True:
            try:
                self._probe_until_it_fails()
            except psycopg.Error as error:
                # Of a standby, libpq says so when it connects.
                self._answered_at, self._is_read_only = None, "read-only" in str(error)
                logger.warning("The database does not answer.", exc_info=error)
                self._probed.set()
            time.sleep(PAUSE_SECONDS)

    def _probe_until_it_fails(self) -> None:
        params = connection.get_connection_params() | KEEPALIVES
        with session.open_outside_pool(params, application_name="kaha monitor") as probe:
            while True:
                [[is_read_only]] = probe.execute("SELECT current_setting('transaction_read_only')::bool").fetchall()
                if is_read_only and not connection.is_standby:  # type: ignore[attr-defined]
                    raise psycopg.errors.ReadOnlySqlTransaction("The session is read-only.")
                self._answered_at, self._is_read_only = time.monotonic(), False
                self._probed.set()
                time.sleep(PAUSE_SECONDS)

"""A monitor of PostgreSQL, which probes about once a second on its own connection and thread."""

import logging
import time
from threading import Event, Thread

import psycopg
from django.db import connection

logger = logging.getLogger("kaha.health")

PAUSE_SECONDS = 1.0
# A probe that takes longer counts as failed.
DEADLINE_SECONDS = 3.0
# Detect a server that has disappeared, so that the next probe connects again.
KEEPALIVES = {"keepalives_idle": 3, "keepalives_interval": 1, "keepalives_count": 3, "tcp_user_timeout": 3000}
# Parameters of Django's that psycopg's `connect` does not take.
DJANGOS = ("cursor_factory", "context", "prepare_threshold", "server_side_binding")


class DatabaseMonitor:
    """Whether the database answers, known without a query."""

    def __init__(self) -> None:
        self._answered_at: float | None = None
        self._probed = Event()

    def start(self) -> None:
        """Probe until the process ends; return after the first probe, or after DEADLINE_SECONDS."""
        Thread(target=self._probe_for_ever, name="database-monitor", daemon=True).start()
        self._probed.wait(DEADLINE_SECONDS)

    @property
    def answers(self) -> bool:
        """Whether the last probe succeeded and the next has not waited for longer than DEADLINE_SECONDS."""
        answered_at = self._answered_at
        return answered_at is not None and time.monotonic() - answered_at < PAUSE_SECONDS + DEADLINE_SECONDS

    def _probe_for_ever(self) -> None:
        while True:
            try:
                self._probe_until_it_fails()
            except psycopg.Error as error:
                self._answered_at = None
                logger.warning("The database does not answer.", exc_info=error)
                self._probed.set()
            time.sleep(PAUSE_SECONDS)

    def _probe_until_it_fails(self) -> None:
        parameters = connection.get_connection_params() | KEEPALIVES
        own = {name: value for name, value in parameters.items() if name not in DJANGOS}
        with psycopg.connect(**own, autocommit=True, application_name="kaha monitor") as probe:
            while True:
                probe.execute("SELECT 1")
                self._answered_at = time.monotonic()
                self._probed.set()
                time.sleep(PAUSE_SECONDS)

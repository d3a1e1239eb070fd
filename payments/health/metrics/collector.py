"""The facts of the service at a scrape: read in bounded statements, and again after CACHED_SECONDS at the earliest."""

import logging
import time
from collections.abc import Iterable
from threading import Lock

from django.db import Error
from prometheus_client import Metric
from prometheus_client.registry import Collector

from payments.concurrency.connections import release_connection
from payments.health.examination import database_answers
from payments.health.gauges import gauge
from payments.health.table import MEASURED, Fact

logger = logging.getLogger("kaha.metrics")

CACHED_SECONDS = 15.0
# What is not read by then is missing in a scrape; Prometheus waits ten seconds.
TOTAL_SECONDS = 6.0


class ServiceCollector(Collector):
    """Makes the families that are the same for all processes, because they are read from the database and Redis."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._metrics: list[Metric] = []
        self._made_at = -CACHED_SECONDS

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that to register this reads nothing."""
        return []

    def collect(self) -> Iterable[Metric]:
        """Return the families, at most CACHED_SECONDS old."""
        with self._lock:
            if time.monotonic() - self._made_at >= CACHED_SECONDS:
                self._metrics = read_all()
                self._made_at = time.monotonic()
            return self._metrics


def read_all() -> list[Metric]:
    """Read every fact; one that cannot be read in time is missing, and `kaha_fact_read` says which."""
    deadline = time.monotonic() + TOTAL_SECONDS
    is_answering = database_answers()
    metrics, read = [gauge("kaha_postgresql_up", "Whether PostgreSQL answers.", is_answering)], dict[str, float]()
    for fact in MEASURED:
        found = None
        if time.monotonic() < deadline and (is_answering or not fact.of_database):
            found = _metrics_of(fact)
        read[fact.name] = found is not None
        metrics += found or []
    release_connection()
    return [*metrics, gauge("kaha_fact_read", "Whether a group of facts was read in time.", read, "fact")]


def _metrics_of(fact: Fact) -> list[Metric] | None:
    try:
        return fact.measure()
    except Error as error:
        logger.warning("A fact for the metrics was not read.", extra={"fact": fact.name, "why": type(error).__name__})
        return None
    finally:
        release_connection()

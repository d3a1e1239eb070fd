"""Gauges of a process that a thread reads once a second, so that what they measure pays nothing for it."""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any

from prometheus_client import Gauge

from payments.metrics import counters

logger = logging.getLogger("kaha.metrics")

PAUSE_SECONDS = 1.0
Reads = Mapping[Gauge, Callable[[], float]]


def of_connections(connection: Any) -> Reads:
    """Return the gauges of the connection pool that `connection`, Django's, takes from."""
    return {
        counters.CONNECTIONS: lambda: connection.process_pool.most,
        counters.CONNECTIONS_IN_USE: lambda: connection.process_pool.in_use,
        counters.CONNECTIONS_WAITING: lambda: connection.process_pool.waiting,
    }


def sample(reads: Reads) -> None:
    """Set each gauge to what its function returns."""
    for gauge, read in reads.items():
        gauge.set(read())


def start(reads: Reads) -> None:
    """Sample until the process ends."""
    Thread(target=_sample_for_ever, args=[reads], name="metrics-samples", daemon=True).start()


def _sample_for_ever(reads: Reads) -> None:
    while True:
        try:
            sample(reads)
        except Exception:
            logger.exception("A gauge could not be read.")
        time.sleep(PAUSE_SECONDS)

"""Charges at a provider that takes its time, with others who want something quick meanwhile."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import ceil
from statistics import median

from payments.web.server import PROCESSES
from tests.benchmark.clients.client import Answers, Client, Load
from tests.benchmark.figures import Figures, measured, memory_mb
from tests.benchmark.servers import Service

# In each web process.
IN_FLIGHT = 80
PROVIDER_SECONDS = 1
SHORTEST_SECONDS = 4
MARGIN_SECONDS = 2
SAMPLES = 20
WARM_UPS = 32
PAUSE_SECONDS = 0.01
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


class Slow:
    """Measures `service`, whose provider takes PROVIDER_SECONDS."""

    def __init__(self, service: Service, seconds: float) -> None:
        self._service, self._seconds = service, max(seconds, SHORTEST_SECONDS)
        self._client = Client(Load(service.data, 16), service.port, service.secret_key)
        self._quick = {"list": self._client.page(), "ping": self._client.request("GET", "/ping")}
        self._meanwhile: dict[str, Figures] = {}

    def contenders(self) -> Iterator[tuple[str, Callable[[], Figures]]]:
        """Yield the charges, and what is quick, meanwhile and otherwise."""
        # Each web process compiles the statement of a list at its first request, which is no part of the first round.
        self._client.send([*self._quick.values()] * WARM_UPS)
        yield "slow", self.measure
        for name in self._quick:
            yield f"slow/{name}", partial(self._meanwhile.__getitem__, name)
        for name in self._quick:
            yield f"slow/quiet_{name}", lambda name=name: measured(self._start(name), {})

    def measure(self) -> Figures:
        """Measure one stretch of charges, and what is asked for meanwhile. Raises Failed."""
        count = ceil(IN_FLIGHT * PROCESSES / PROVIDER_SECONDS * (self._seconds + MARGIN_SECONDS))
        requests = self._client.new_charges(self._client.sources(count))
        load = Load(self._service.data, IN_FLIGHT * PROCESSES, "slow")
        memory: list[float] = []
        connections: list[int] = []

        def run() -> Answers:
            charges = load.start(self._service.port, requests, self._seconds, spread_seconds=PROVIDER_SECONDS)
            time.sleep(PROVIDER_SECONDS)
            quick = {name: self._start(name) for name in self._quick}
            for _ in range(SAMPLES):
                time.sleep((self._seconds - PROVIDER_SECONDS) / SAMPLES)
                memory.append(memory_mb(self._service.pids["server"]))
                connections.append(self._connections())
            self._meanwhile |= {name: measured(answers, {}) for name, answers in quick.items()}
            return charges()

        figures = measured(run, self._service.pids)
        return replace(figures, memory_mb=max(memory), connections=median(connections))

    def _start(self, name: str) -> Callable[[], Answers]:
        """Start one client that asks for it again and again, until the charges come to their end."""
        load, seconds = Load(self._service.data, 1, name), self._seconds - PROVIDER_SECONDS
        return load.start(self._service.port, [self._quick[name]], seconds, again=True, pause_seconds=PAUSE_SECONDS)

    def _connections(self) -> int:
        with self._service.connect() as connection:
            [(count,)] = connection.execute(CONNECTIONS).fetchall()
        return int(count)

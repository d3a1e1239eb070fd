"""Charges at a provider that takes its time, with others who want something quick meanwhile."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import ceil
from statistics import median

from config.benchmark.figures import Figures
from config.benchmark.floors import connect
from config.benchmark.making import Maker, new_charges
from config.benchmark.measuring import measured
from config.benchmark.parts import new_list
from config.benchmark.processes import memory_mb
from config.benchmark.sending import Answers, Load, Pace, Request, Waiting
from config.benchmark.service import Service
from payments.quickstart.supervisor import Supervisor
from payments.quickstart.web import WORKERS

# In each web process.
IN_FLIGHT = 80
PROVIDER_SECONDS = 1
SHORTEST_SECONDS = 4
MARGIN_SECONDS = 2
SAMPLES = 20
PAUSE_SECONDS = 0.01
QUICK = {"list": new_list(), "ping": Request("GET", "/ping")}
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


class Slow:
    """Measures `service`, whose provider takes PROVIDER_SECONDS."""

    def __init__(self, service: Service, seconds: float, supervisor: Supervisor) -> None:
        self._service, self._supervisor = service, supervisor
        self._seconds = max(seconds, SHORTEST_SECONDS)
        self._maker = Maker(self._load("made", 16), service.port, service.secret_key)
        self._quick: dict[str, Figures] = {}

    def contenders(self) -> Iterator[tuple[str, Callable[[], Figures]]]:
        yield "slow", self.measure
        for name in QUICK:
            yield f"slow/{name}", partial(self._quick.__getitem__, name)
        for name in QUICK:
            yield f"slow/quiet_{name}", partial(self._otherwise, name)

    def measure(self) -> Figures:
        """One stretch of charges, and what is asked for meanwhile. Raises Failed or Stopped."""
        sources = self._maker.sources(ceil(IN_FLIGHT * WORKERS / PROVIDER_SECONDS * (self._seconds + MARGIN_SECONDS)))
        requests = [request.text(self._maker.secret_key) for request in new_charges(sources)]
        memory: list[float] = []
        connections: list[int] = []

        def run() -> Answers:
            load = self._load("slow", IN_FLIGHT * WORKERS)
            charges = load.start(
                self._service.port, requests, self._seconds, pace=Pace(spread_seconds=PROVIDER_SECONDS)
            )
            time.sleep(PROVIDER_SECONDS)
            quick = {name: self._start(name) for name in QUICK}
            for _ in range(SAMPLES):
                time.sleep((self._seconds - PROVIDER_SECONDS) / SAMPLES)
                memory.append(memory_mb(self._service.pids["web"]))
                connections.append(self._connections())
            self._quick |= {name: measured(answers, {})[1] for name, answers in quick.items()}
            return charges()

        figures = measured(run, self._service.measured_pids)[1]
        return replace(figures, memory_mb=max(memory), connections=median(connections))

    def _start(self, name: str) -> Waiting:
        """One client that asks for it again and again, until the charges come to their end."""
        load, text = self._load(name, 1), QUICK[name].text(self._maker.secret_key)
        pace = Pace(pause_seconds=PAUSE_SECONDS)
        return load.start(self._service.port, [text], self._seconds - PROVIDER_SECONDS, again=True, pace=pace)

    def _otherwise(self, name: str) -> Figures:
        """A stretch of what is asked for, alone."""
        return measured(self._start(name), {})[1]

    def _connections(self) -> int:
        with connect(self._service.places) as connection:
            [(count,)] = connection.execute(CONNECTIONS).fetchall()
        return int(count)

    def _load(self, name: str, connections: int) -> Load:
        return Load(self._service.places.data, connections, self._supervisor, name)

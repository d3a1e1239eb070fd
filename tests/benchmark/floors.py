"""The floor of a database: pgbench runs the least SQL that does, in kaha's cluster, on a schema of its own."""

import os
import re
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path

from payments.embedded import postgres
from tests.benchmark.figures import Figures, Stretch, measured
from tests.benchmark.servers import Service
from tests.support.processes import start

FOLDER = Path(__file__).parent
THREADS = 2
# More than a database on a disk can use up.
SOURCES_PER_SECOND = 10_000
NEW_SOURCES = """
    INSERT INTO floor.source (merchant_id, livemode, card)
    SELECT merchant_id, livemode, repeat('x', 300) FROM floor.api_key, generate_series(1, %s)
"""
FIRST_UNUSED = "SELECT coalesce(max(id), 0) + 1 FROM floor.source"
PER_SECOND = re.compile(r"^tps = ([0-9.]+) \(without initial connection time\)", re.MULTILINE)
# Of a line of pgbench's log: how long the transaction took.
LATENCY_COLUMN, MICROSECONDS = 2, 1_000_000
GRACE_SECONDS = 60


@dataclass
class Pgbench:
    """Runs scripts of this folder on the cluster of `service`, with so many `clients`."""

    service: Service
    clients: int
    seconds: float

    def __post_init__(self) -> None:
        # pgbench knows whole seconds only.
        self._seconds = ceil(self.seconds)
        self._logs = self.service.data / "pgbench"
        self._logs.mkdir()
        with self.service.connect() as connection:
            connection.execute((FOLDER / "floor.sql").read_text())

    def measure(self, script: str) -> Figures:
        """Measure one stretch of `two_tx`, on sources that are made for it, or of `insert`. Raises Failed."""
        variables = self._sources() if script == "two_tx" else {}
        for old in self._logs.iterdir():
            old.unlink()
        return measured(partial(self._run, script, variables), {"postgres": self.service.pids["postgres"]})

    def _sources(self) -> dict[str, int]:
        """Make as many for each client; return the variables by which the script knows which are whose."""
        each = ceil(SOURCES_PER_SECOND * self._seconds / self.clients)
        with self.service.connect() as connection:
            [(first,)] = connection.execute(FIRST_UNUSED).fetchall()
            connection.execute(NEW_SOURCES, [each * self.clients])
        return {"first": first, "each": each, "next": 0}

    def _run(self, script: str, variables: dict[str, int]) -> Stretch:
        output = self._logs / "output"
        command = [
            postgres.wheel_folder() / "bin" / "pgbench",
            f"--client={self.clients}",
            f"--jobs={min(THREADS, self.clients)}",
            f"--time={self._seconds}",
            f"--file={FOLDER / script}.sql",
            *(f"--define={name}={value}" for name, value in variables.items()),
            *("--protocol=prepared", "--no-vacuum", "--exit-on-abort"),
            *("--log", f"--log-prefix={self._logs / 'transactions'}"),
        ]
        address = zip(("PGHOST", "PGUSER", "PGPASSWORD", "PGDATABASE"), self.service.database, strict=True)
        environment = {"PATH": os.defpath, **dict(address)}
        start(command, log=output, environment=environment).succeed(self._seconds + GRACE_SECONDS)
        latencies = [
            int(line.split()[LATENCY_COLUMN]) / MICROSECONDS
            for log in self._logs.glob("transactions.*")
            for line in log.read_text().splitlines()
        ]
        found = PER_SECOND.search(output.read_text())
        return Stretch(len(latencies) / float(found[1]) if found else self.seconds, latencies)

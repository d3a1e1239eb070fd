"""The floor of a source: pgbench runs the least SQL that does, in kaha's cluster, on a schema of its own."""

import os
import re
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from payments.embedded import postgres
from tests.benchmark.figures import Figures, Stretch, measured
from tests.benchmark.servers import Service
from tests.support.processes import start

FOLDER = Path(__file__).parent
THREADS = 2
PER_SECOND = re.compile(r"^tps = ([0-9.]+) \(without initial connection time\)", re.MULTILINE)
# Of a line of pgbench's log: how long the transaction took.
LATENCY_COLUMN, MICROSECONDS = 2, 1_000_000
GRACE_SECONDS = 60


@dataclass
class Pgbench:
    """Runs `insert.sql` on the cluster of `service`, with so many `clients`."""

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

    def measure(self) -> Figures:
        """Measure one stretch. Raises Failed."""
        for old in self._logs.iterdir():
            old.unlink()
        return measured(self._run, {"postgres": self.service.pids["postgres"]})

    def _run(self) -> Stretch:
        output = self._logs / "output"
        command = [
            postgres.wheel_folder() / "bin" / "pgbench",
            f"--client={self.clients}",
            f"--jobs={min(THREADS, self.clients)}",
            f"--time={self._seconds}",
            f"--file={FOLDER / 'insert.sql'}",
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

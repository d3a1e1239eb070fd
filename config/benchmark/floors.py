"""The floor of a database: pgbench runs the least SQL that does, in kaha's cluster, on a schema of its own."""

import os
import re
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from config.benchmark.figures import Figures, Stretch
from config.benchmark.measuring import measured
from payments.quickstart.servers import postgres
from payments.quickstart.servers.places import Places, secrets_of
from payments.quickstart.servers.processes import spawn
from payments.quickstart.supervisor import Supervisor

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


@dataclass(frozen=True)
class Pgbench:
    """Runs scripts of this folder on the cluster of `places`, whose server has `pid`, with so many `clients`."""

    places: Places
    pid: int
    clients: int
    seconds: float
    supervisor: Supervisor

    def make_schema(self) -> None:
        with connect(self.places) as connection:
            connection.execute((FOLDER / "floor.sql").read_text())

    def measure(self, script: str) -> Figures:
        """One stretch of `two_tx`, on sources that are made for it, or of `insert`.

        Raises Failed where it does not end well, and Stopped.
        """
        variables = self._sources() if script == "two_tx" else {}
        for old in self.places.logs.glob("pgbench.*"):
            old.unlink()
        return measured(lambda: self._run(script, variables), {"postgres": self.pid})[1]

    def _run(self, script: str, variables: dict[str, int]) -> Stretch:
        output = self.places.log("pgbench")
        process = spawn(self._command(script, variables), log=output, environment=self._environment())
        self.supervisor.wait_for_end("pgbench", process, output, self._whole_seconds + GRACE_SECONDS)
        latencies = [
            int(line.split()[LATENCY_COLUMN]) / MICROSECONDS
            for log in self.places.logs.glob("pgbench.[0-9]*")
            for line in log.read_text().splitlines()
        ]
        found = PER_SECOND.search(output.read_text())
        return Stretch(len(latencies) / float(found[1]) if found else self.seconds, latencies)

    def _command(self, script: str, variables: dict[str, int]) -> list[str | Path]:
        return [
            postgres.wheel_folder() / "bin" / "pgbench",
            f"--client={self.clients}",
            f"--jobs={min(THREADS, self.clients)}",
            f"--time={self._whole_seconds}",
            f"--file={FOLDER / script}.sql",
            *(f"--define={name}={value}" for name, value in variables.items()),
            *("--protocol=prepared", "--no-vacuum", "--exit-on-abort"),
            *("--log", f"--log-prefix={self.places.logs / 'pgbench'}"),
        ]

    def _sources(self) -> dict[str, int]:
        """New ones, as many for each client: the variables that tell the script which are whose."""
        each = ceil(SOURCES_PER_SECOND * self._whole_seconds / self.clients)
        with connect(self.places) as connection:
            [(first,)] = connection.execute(FIRST_UNUSED).fetchall()
            connection.execute(NEW_SOURCES, [each * self.clients])
        return {"first": first, "each": each, "next": 0}

    @property
    def _whole_seconds(self) -> int:
        """pgbench knows no others."""
        return ceil(self.seconds)

    def _environment(self) -> dict[str, str]:
        """What leads a client to the database."""
        names = {"host": "PGHOST", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}  # nosec B105 # a name
        return {"PATH": os.defpath, **{names[key]: value for key, value in _address(self.places).items()}}


def connect(places: Places) -> psycopg.Connection:
    """A connection of our own to the database."""
    return psycopg.connect(make_conninfo(**_address(places)))


def _address(places: Places) -> dict[str, str]:
    password = secrets_of(places.data)["POSTGRES_PASSWORD"]
    return {
        "host": str(places.database_socket),
        "user": postgres.USER,
        "password": password,
        "dbname": postgres.DATABASE,
    }

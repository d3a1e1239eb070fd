"""Three PostgreSQL with Patroni, by config/deploy/cluster/patroni.yml; Patroni is PyPI's."""

import json
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from tests.figures.failover.cluster.etcd import SAMPLE as ETCD
from tests.figures.failover.cluster.hosts import Host
from tests.figures.failover.cluster.namespaces import NETWORK
from tests.figures.failover.cluster.parts import FILES, filled_in

VERSION = "4.1.5"
POSTGRES = Path("/usr/lib/postgresql/15/bin")
PORT, REST_PORT = 5432, 8008
SAMPLE = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
USER = "postgres"


class Patroni:
    """The hosts of PostgreSQL, of which one is the primary, and one its synchronous standby."""

    def __init__(self, hosts: Sequence[Host], etcd: Sequence[Host], passwords: dict[str, str]) -> None:
        self.hosts, self._etcd, self._passwords = hosts, etcd, passwords

    def start(self, folder: Path) -> None:
        program = install(folder)
        etcd = {sample: host.address for sample, host in zip(ETCD.values(), self._etcd, strict=True)}
        for number, host in enumerate(self.hosts, 1):
            words = etcd | self._passwords | {"pg1": f"pg{number}", "10.0.0.1": host.address, "10.0.0.0/16": NETWORK}
            own = {"/var/lib/postgresql/15/kaha": str(host.folder / "data"), "/var/run/postgresql": str(host.folder)}
            command = [str(program), str(filled_in("cluster/patroni.yml", words | own, host))]
            host.start("patroni", command, user=USER, environment={"HOME": str(host.folder)})

    def primary(self) -> Host | None:
        return next((host for host in self.hosts if self._says(host, "primary")), None)

    def standby(self) -> Host | None:
        """Return the host of the synchronous standby."""
        return next((host for host in self.hosts if self._says(host, "synchronous")), None)

    @property
    def is_well(self) -> bool:
        """Whether there is a primary with a synchronous standby, and both others follow it."""
        primary = self.primary()
        if primary is None or self.standby() is None:
            return False
        members = primary.call(lambda: _cluster(primary.address))
        # One that is only running may be replaying for long: were another to fail now, nothing could be committed.
        return sum(member["state"] == "streaming" for member in members) == len(self.hosts) - 1

    def make_database(self) -> None:
        """Make kaha's role, which is no superuser, with its time-outs for PgBouncer, and its database."""
        password = self._passwords["database-password"]
        with self._session("postgres") as admin:
            admin.execute(sql.SQL("CREATE ROLE kaha LOGIN PASSWORD {}").format(password))
            admin.execute("CREATE ROLE kaha_merchant")
            admin.execute("GRANT kaha_merchant TO kaha")
            admin.execute("CREATE DATABASE kaha OWNER kaha TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'")
        with self._session("kaha") as admin:
            admin.execute((FILES / "pgbouncer.sql").read_text())

    def copy_tables(self, tables: Mapping[str, Sequence[bytes]]) -> None:
        """Put rows into kaha's database, by `table (columns)`, in PostgreSQL's text form."""
        with self._session("kaha") as admin, admin.cursor() as cursor:
            # The order of the tables does not matter then.
            cursor.execute("SET session_replication_role = replica")
            for table, rows in tables.items():
                cursor.execute(f"TRUNCATE {table.partition(' ')[0]} CASCADE")
                with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                    for row in rows:
                        copy.write(row)

    def url(self, host: str = "") -> str:
        """Return a DATABASE_URL with all hosts, or that of another `host:port`."""
        hosts = host or ",".join(f"{each.address}:{PORT}" for each in self.hosts)
        return f"postgresql://kaha:{self._passwords['database-password']}@{hosts}/kaha"

    def _session(self, database: str) -> "psycopg.Connection[Any]":
        primary = self.primary()
        assert primary
        password = self._passwords["superuser-password"]
        where = {"host": primary.address, "port": PORT, "user": "postgres", "password": password, "dbname": database}
        return primary.call(lambda: psycopg.connect(**where, autocommit=True))

    def _says(self, host: Host, role: str) -> bool:
        return host.call(lambda: _answers(f"http://{host.address}:{REST_PORT}/{role}"))


def install(folder: Path) -> Path:
    """Install Patroni below `folder`; return its program."""
    environment = folder / "patroni"
    # Debian's Python, which the user postgres may run.
    subprocess.run(["uv", "venv", "-q", "--python", "/usr/bin/python3", environment], check=True)
    packages = [f"patroni[etcd3]=={VERSION}", "psycopg[binary]"]
    install = ["uv", "pip", "install", "-q", "--link-mode", "copy", "--python", environment / "bin" / "python"]
    subprocess.run([*install, *packages], check=True)
    return environment / "bin" / "patroni"


def _answers(url: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
        return bool(answer.status == 200)
    return False


def _cluster(address: str) -> list[dict[str, Any]]:
    with suppress(OSError), urllib.request.urlopen(f"http://{address}:{REST_PORT}/cluster", timeout=2) as answer:
        return list(json.loads(answer.read())["members"])
    return []

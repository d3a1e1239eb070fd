"""PostgreSQL servers beside the suite's: started on embedded programs, frozen, killed and asked."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import psycopg

from payments.embedded import postgres
from payments.embedded.folders import SYSTEM_FOLDER, make_running_folders, prepare, secrets_of
from payments.embedded.processes import wait_until
from payments.quickstart.ports import HOST
from tests.support.processes import PATIENCE_SECONDS, with_children

Connection = psycopg.Connection[tuple[object, ...]]


@contextmanager
def data_folder(mode: int = 0o711) -> Iterator[Path]:
    """Yield a data folder that does not exist yet and PostgreSQL's own user reaches, and remove all of it."""
    with TemporaryDirectory(prefix="kaha-test-") as parent:
        Path(parent).chmod(mode)
        data = Path(parent) / "data"
        try:
            yield data
        finally:
            remove_linked_folders(data)


def remove_linked_folders(data: Path) -> None:
    """Remove the folders that the links in a data folder point to."""
    for link in data.glob("*"):
        target = link.resolve()
        if link.is_symlink() and (target.parent == SYSTEM_FOLDER or target.name.startswith("kaha-")):
            shutil.rmtree(target)


class Postgres:
    """A server below the folder `data`, on a socket, and on `port` of loopback where one is given."""

    def __init__(self, data: Path, port: int = 0) -> None:
        self.folders, self.port = prepare(data), port
        make_running_folders(self.folders)
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def host(self) -> str:
        return str(self.folders.database_socket)

    @property
    def password(self) -> str:
        return secrets_of(self.folders.data)["POSTGRES_PASSWORD"]

    def url(self, database: str = postgres.DATABASE) -> str:
        """Return the DATABASE_URL of one of its databases."""
        place = f"{HOST}:{self.port}" if self.port else f"/{quote(self.host)}"
        return f"postgresql://{postgres.USER}:{quote(self.password)}@{place}/{database}"

    def start(self, *, is_ready: bool = True, **settings: str) -> "subprocess.Popen[bytes]":
        """Make the database if there is none, start the server and wait for it, unless it never `is_ready`."""
        postgres.create(self.folders)
        network = {"listen_addresses": HOST, "port": str(self.port)} if self.port else {}
        process = postgres.start(self.folders, network | settings)
        self.processes.append(process)
        if is_ready:
            postgres.wait_until_ready(self.folders, process, PATIENCE_SECONDS)
        return process

    def stop(self) -> None:
        for process in self.processes:
            postgres.stop_server(process)

    def connect(self, database: str = postgres.DATABASE) -> Connection:
        """Return a connection that commits each statement."""
        named = {"user": postgres.USER, "password": self.password, "dbname": database}
        return psycopg.connect(host=self.host, port=self.port or None, autocommit=True, **named)

    def execute(self, *statements: str, database: str = postgres.DATABASE) -> list[tuple[object, ...]]:
        """Execute statements; return the rows of the last."""
        with self.connect(database) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def freeze(self) -> None:
        """Have it take what it is sent, and never answer, as on a host that hangs."""
        self.send(signal.SIGSTOP)

    def thaw(self) -> None:
        self.send(signal.SIGCONT)

    def kill(self) -> None:
        """Kill the server and every process of it, and wait until nothing of it is left."""
        pids = self.send(signal.SIGKILL)
        assert wait_until(lambda: not any(map(_lives, pids)), PATIENCE_SECONDS)

    def send(self, number: signal.Signals) -> list[int]:
        """Send a signal to all processes of the server; return their IDs."""
        pids = with_children(int((self.folders.cluster / "postmaster.pid").read_text().split("\n", 1)[0]))
        for pid in pids:
            # A child may have ended meanwhile.
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids


@contextmanager
def own_postgres(port: int = 0, **settings: str) -> Iterator[Postgres]:
    """Yield a server of its own that is started."""
    with data_folder() as data:
        server = Postgres(data, port)
        server.start(**settings)
        try:
            yield server
        finally:
            server.stop()


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False

"""Real standbys of the suite's server."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection

from payments.embedded import postgres
from payments.embedded.folders import Folders, make_database_folder, make_running_folders, prepare
from payments.embedded.processes import wait_until
from tests.quickstart.conftest import remove_linked_folders

PATIENCE_SECONDS = 60


class Standby:
    """A standby that streams from the suite's server."""

    def __init__(self, folders: Folders, process: "subprocess.Popen[bytes]") -> None:
        self.folders, self._process = folders, process

    @property
    def host(self) -> str:
        return str(self.folders.database_socket)

    @property
    def url(self) -> str:
        """The URL of the database of this process on the standby."""
        there = connection.settings_dict
        return f"postgresql://{there['USER']}:{quote(there['PASSWORD'])}@/{quote(self.host)}/{there['NAME']}"

    def pause(self) -> None:
        """Have it receive what the primary writes, and apply nothing."""
        with self.session() as there:
            there.execute("SELECT pg_wal_replay_pause()")
            state = "SELECT pg_get_wal_replay_pause_state()"
            assert wait_until(lambda: there.execute(state).fetchone() == ("paused",), PATIENCE_SECONDS)

    def resume(self) -> None:
        with self.session() as there:
            there.execute("SELECT pg_wal_replay_resume()")

    def freeze(self) -> None:
        """Have it take what it is sent, and never answer."""
        signal_server(self.folders, signal.SIGSTOP)

    def thaw(self) -> None:
        signal_server(self.folders, signal.SIGCONT)

    def stop(self) -> None:
        postgres.stop_server(self._process)

    def session(self) -> "psycopg.Connection[tuple[object, ...]]":
        there = connection.settings_dict
        named = {"user": there["USER"], "password": there["PASSWORD"], "dbname": there["NAME"]}
        return psycopg.connect(host=self.host, autocommit=True, **named)


def signal_server(folders: Folders, number: int) -> None:
    """Send a signal to all processes of a server."""
    postmaster = int((folders.cluster / "postmaster.pid").read_text().split("\n", 1)[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for pid in [postmaster, *map(int, children)]:
        # A child may have ended meanwhile.
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def standby(**settings: str) -> Iterator[Standby]:
    """Start a standby of the suite's server with these `settings`; skip the test where that is an outside server."""
    if not connection.settings_dict["HOST"].startswith("/"):
        pytest.skip("An outside server may refuse replicas.")
    with tempfile.TemporaryDirectory(prefix="kaha-test-") as folder:
        Path(folder).chmod(0o711)
        folders = prepare(Path(folder) / "data")
        make_running_folders(folders)
        make_database_folder(folders)
        _copy_cluster(folders)
        # A standby must allow as many as its primary.
        process = postgres.start(folders, {"max_connections": "300", **settings})
        try:
            yield Standby(folders, process)
        finally:
            postgres.stop_server(process)
            remove_linked_folders(folders.data)


def _copy_cluster(folders: Folders) -> None:
    there = connection.settings_dict
    program = postgres.reachable_programs(folders) / "pg_basebackup"
    address = [f"--host={there['HOST']}", f"--username={there['USER']}", "--checkpoint=fast", "--write-recovery-conf"]
    environment = {**postgres.ENVIRONMENT, "PGPASSWORD": there["PASSWORD"]}
    subprocess.run(
        [program, *address, f"--pgdata={folders.cluster}"], env=environment, check=True, **folders.popen_options
    )

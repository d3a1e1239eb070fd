"""Real standbys of the suite's server."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from payments.embedded import postgres
from payments.embedded.folders import Folders, make_database_folder
from payments.embedded.processes import wait_until
from tests.support.postgres import Connection, Postgres, data_folder
from tests.support.processes import PATIENCE_SECONDS


class Standby(Postgres):
    """A standby that streams from the suite's server."""

    @property
    def password(self) -> str:
        return str(connection.settings_dict["PASSWORD"])

    def url(self, database: str = "") -> str:
        """Return the URL of the database of this process on the standby."""
        return super().url(database or connection.settings_dict["NAME"])

    def pause(self) -> None:
        """Have it receive what the primary writes, and apply nothing."""
        with self.session() as there:
            there.execute("SELECT pg_wal_replay_pause()")
            state = "SELECT pg_get_wal_replay_pause_state()"
            assert wait_until(lambda: there.execute(state).fetchone() == ("paused",), PATIENCE_SECONDS)

    def resume(self) -> None:
        with self.session() as there:
            there.execute("SELECT pg_wal_replay_resume()")

    def session(self) -> Connection:
        return self.connect(connection.settings_dict["NAME"])


@contextmanager
def standby(**settings: str) -> Iterator[Standby]:
    """Start a standby of the suite's server with these `settings`; skip the test where that is an outside server."""
    if not connection.settings_dict["HOST"].startswith("/"):
        pytest.skip("An outside server may refuse replicas.")
    with data_folder() as data:
        made = Standby(data)
        make_database_folder(made.folders)
        _copy_cluster(made.folders)
        try:
            # A standby must allow as many as its primary.
            made.start(is_ready=False, max_connections="300", **settings)
            yield made
        finally:
            made.stop()


def _copy_cluster(folders: Folders) -> None:
    there = connection.settings_dict
    program = postgres.reachable_programs(folders) / "pg_basebackup"
    address = [f"--host={there['HOST']}", f"--username={there['USER']}", "--checkpoint=fast", "--write-recovery-conf"]
    environment = {**postgres.ENVIRONMENT, "PGPASSWORD": there["PASSWORD"]}
    subprocess.run(
        [program, *address, f"--pgdata={folders.cluster}"], env=environment, check=True, **folders.popen_options
    )

"""A PostgreSQL that is stopped, as on a host that hangs: it takes what it is sent, and never answers."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, connections
from pytest_django import DjangoDbBlocker

from payments import vault
from payments.db.backend.base import DatabaseWrapper
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.domain.merchants.merchants import create_merchant
from payments.embedded import postgres
from payments.embedded.folders import Folders, make_running_folders, prepare, secrets_of
from payments.embedded.processes import wait_until
from payments.quickstart.ports import HOST, claim
from tests.client import Api
from tests.quickstart.conftest import remove_linked_folders
from tests.standbys import signal_server

LONG_SECONDS = 60
STATEMENT_SECONDS = 1


class Server:
    """A PostgreSQL of its own, on a socket and a port, that can be frozen and thawed."""

    def __init__(self, folders: Folders, port: int) -> None:
        self.folders, self.port = folders, port

    def settings(self, **own: object) -> dict[str, object]:
        """Return the settings of a process with two connections."""
        password = secrets_of(self.folders.data)["POSTGRES_PASSWORD"]
        there = {"NAME": "kaha", "USER": "kaha", "PASSWORD": password, "HOST": str(self.folders.database_socket)}
        few = {"PORT": str(self.port), "CONNECTIONS": 2, "STATEMENT_SECONDS": STATEMENT_SECONDS}
        return {**connections["default"].settings_dict, **there, **few, **own}

    def connection(self, **own: object) -> DatabaseWrapper:
        """Return the connection wrapper of a thread of such a process."""
        return DatabaseWrapper(self.settings(**own), "frozen")

    def freeze(self) -> None:
        signal_server(self.folders, signal.SIGSTOP)

    def thaw(self) -> None:
        signal_server(self.folders, signal.SIGCONT)


@pytest.fixture(scope="module")
def shared_server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="kaha-test-") as folder, claim(0) as claimed:
        Path(folder).chmod(0o711)
        folders = prepare(Path(folder) / "data")
        make_running_folders(folders)
        postgres.create(folders)
        port = claimed.getsockname()[1]
        claimed.close()
        process = postgres.start(folders, {"listen_addresses": HOST, "port": str(port)})
        try:
            postgres.wait_until_ready(folders, process, LONG_SECONDS)
            yield Server(folders, port)
        finally:
            postgres.stop_server(process)
            remove_linked_folders(folders.data)


@pytest.fixture
def server(
    shared_server: Server, monkeypatch: pytest.MonkeyPatch, django_db_blocker: DjangoDbBlocker
) -> Iterator[Server]:
    monkeypatch.setattr(DatabaseWrapper, "_by_process_and_name", {})
    with django_db_blocker.unblock():
        yield shared_server
    shared_server.thaw()


@pytest.fixture(scope="module")
def tables(shared_server: Server, django_db_blocker: DjangoDbBlocker) -> None:
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        point_to(shared_server, patch)
        call_command("migrate", verbosity=0)
        connection.close()
        connection.close_pool()


@pytest.fixture
def frozen_api(server: Server, tables: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """Yield the API of this process, whose database is that server."""
    point_to(server, monkeypatch)
    vault.use_store(DatabaseKeyStore())
    yield Api(create_merchant("Sari Store").keys["sk_test"])
    server.thaw()
    assert wait_until(lambda: connection.is_answering, LONG_SECONDS)
    connection.close()
    connection.close_pool()
    vault.use_store(DatabaseKeyStore())


def point_to(server: Server, patch: pytest.MonkeyPatch) -> None:
    connection.close()
    for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT", "CONNECTIONS", "STATEMENT_SECONDS"):
        patch.setitem(connection.settings_dict, name, server.settings()[name])

"""A PostgreSQL that is stopped, as on a host that hangs: it takes what it is sent, and never answers."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import connection, connections
from pytest_django import DjangoDbBlocker

from payments import vault
from payments.db.backend.base import DatabaseWrapper
from payments.domain.maintenance.data_keys import DatabaseKeyStore
from payments.domain.merchants.merchants import create_merchant
from payments.embedded.processes import wait_until
from tests.client import Api
from tests.support.postgres import Postgres, data_folder
from tests.support.processes import free_port

LONG_SECONDS = 60
STATEMENT_SECONDS = 1


class Server(Postgres):
    """A PostgreSQL on a socket and a port, and how processes of ours use it."""

    def settings(self, **own: object) -> dict[str, object]:
        """Return the settings of a process with two connections."""
        there = {"NAME": "kaha", "USER": "kaha", "PASSWORD": self.password, "HOST": self.host}
        few = {"PORT": str(self.port), "CONNECTIONS": 2, "STATEMENT_SECONDS": STATEMENT_SECONDS}
        return {**connections["default"].settings_dict, **there, **few, **own}

    def connection(self, **own: object) -> DatabaseWrapper:
        """Return the connection wrapper of a thread of such a process."""
        return DatabaseWrapper(self.settings(**own), "frozen")


@pytest.fixture(scope="package")
def shared_server() -> Iterator[Server]:
    """Yield the server of the whole folder."""
    with data_folder() as data:
        server = Server(data, free_port())
        server.start()
        yield server
        server.stop()


@pytest.fixture
def server(
    shared_server: Server, monkeypatch: pytest.MonkeyPatch, django_db_blocker: DjangoDbBlocker
) -> Iterator[Server]:
    monkeypatch.setattr(DatabaseWrapper, "_by_process_and_name", {})
    with django_db_blocker.unblock():
        yield shared_server
    shared_server.thaw()


@pytest.fixture(scope="package")
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

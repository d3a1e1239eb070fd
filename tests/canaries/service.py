"""The whole of kaha as `quickstart` starts it, with a PostgreSQL that logs every statement, and recorders."""

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from psycopg import sql

from payments.embedded.folders import Folders, prepare, secrets_of
from payments.embedded.postgres import DATABASE, USER
from payments.sensitive_data.plain_text import plain, unescaped
from tests.canaries.misplaced import NUMBER
from tests.canaries.shop import Shop
from tests.quickstart.quickstart_process import Quickstart
from tests.support.receiver import Receiver
from tests.traces.listeners import Listener, listener

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.canaries.settings", "RATE_LIMIT": "100000/second"}
# The settings with which PostgreSQL logs everything of a statement.
LOGGED = {"log_statement": "'all'", "log_parameter_max_length": "-1", "log_parameter_max_length_on_error": "-1"}


@dataclass
class Service:
    """A running kaha: its folders, its database and Redis, a merchant's view of it, and an endpoint of the merchant."""

    folders: Folders
    ready: dict[str, Any]
    redis: "redis.Redis[bytes]"
    shop: Shop
    receiver: Receiver
    # A collector of traces, and a Sentry.
    listener: Listener
    commands: list[str] = field(default_factory=list)

    def execute(self, statement: str, *params: object) -> None:
        """Execute a statement in PostgreSQL, outside of kaha."""
        with psycopg.connect(autocommit=True, **self.database) as connection:
            connection.execute(statement.encode(), params)

    def cells(self, table: str, column: str) -> list[bytes]:
        """Return the bytes in a column as PostgreSQL stores them."""
        names = sql.Identifier(table), sql.Identifier(column)
        query = sql.SQL("SELECT {1} FROM {0} WHERE {1} IS NOT NULL").format(*names)
        with psycopg.connect(**self.database) as connection:
            return [cell for (cell,) in connection.execute(query)]

    @property
    def database(self) -> dict[str, str]:
        """Return the address of PostgreSQL and its superuser."""
        password = secrets_of(self.folders.data)["POSTGRES_PASSWORD"]
        return {"host": str(self.folders.database_socket), "dbname": DATABASE, "user": USER, "password": password}


@contextmanager
def service(data: Path) -> Iterator[Service]:
    """Run kaha until the block ends, with all its files below `data`."""
    with ExitStack() as stack:
        listening = stack.enter_context(listener())
        exports = {"OTEL_EXPORTER_OTLP_ENDPOINT": listening.url, "TRACES_SAMPLE_RATE": "1", "SENTRY_DSN": listening.dsn}
        before = ("env", *(f"{name}={value}" for name, value in (SETTINGS | exports).items()))
        quickstart = Quickstart(data, "--json", before=before)
        stack.callback(quickstart.ended)
        stack.callback(quickstart.program.send, signal.SIGTERM)
        ready = quickstart.ready()
        folders = prepare(data)
        receiver = stack.enter_context(Receiver())
        shop = stack.enter_context(Shop(ready["api"], ready["sk_test"], receiver.url))
        server = redis.Redis(unix_socket_path=str(folders.redis_socket))
        made = Service(folders, ready, server, shop, receiver, listening)
        _log_everything(made)
        made.execute("UPDATE payments_merchant SET kept_bodies = 'both'")
        stack.enter_context(_listened_to(server, made.commands))
        yield made


def _log_everything(service: Service) -> None:
    for name, value in LOGGED.items():
        service.execute(f"ALTER SYSTEM SET {name} = {value}")
    service.execute("SELECT pg_reload_conf()")


@contextmanager
def _listened_to(server: "redis.Redis[bytes]", commands: list[str]) -> Iterator[None]:
    """Record every command that Redis receives."""
    with server.monitor() as monitor:

        def listen() -> None:
            with suppress(redis.ConnectionError, OSError, ValueError):
                for command in monitor.listen():
                    commands.append(command["command"])

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield


def card_numbers_kept() -> list[tuple[str, str]]:
    """Return the rows that have the number, each with the name of its table."""
    return [(table, text) for table, text in _rows() if is_in(text)]


def is_in(text: str) -> bool:
    """Return whether the digits of the marked number are in `text`, as it is or unescaped."""
    return any(NUMBER in "".join(filter(str.isdecimal, plain(read))) for read in (text, unescaped(text)))


def _rows() -> Iterator[tuple[str, str]]:
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            with connection.cursor() as cursor:
                table = model._meta.db_table
                cursor.execute(f'SELECT t::text FROM "{table}" t')
                yield from ((table, text) for (text,) in cursor)
    yield from (("a session", str(session.get_decoded())) for session in Session.objects.all())

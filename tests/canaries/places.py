"""Every place where kaha leaves data, as named bytes to scan."""

import base64
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from django.apps import apps

from payments.db.fields import CompressedField
from payments.embedded.postgres import wheel_folder
from payments.json_codecs.compression import expand
from tests.canaries.operators import Operator
from tests.canaries.service import Service
from tests.traces.listeners import ERRORS, TRACES

Parts = Iterator[tuple[str, bytes]]
WAL = "pg_wal"
TASK = re.compile(r'"body": "([A-Za-z0-9+/=]*)"')


def _log(name: str) -> Callable[[Service], Parts]:
    def read(service: Service) -> Parts:
        log = service.folders.log(name)
        yield log.name, log.read_bytes()

    return read


def _dump(service: Service) -> Parts:
    """Yield a dump of the whole database, unlogged tables included, with bytes in hex and as they are."""
    database = service.database
    names = {"PGDATABASE": database.pop("dbname")} | {f"PG{name.upper()}": value for name, value in database.items()}
    environment = os.environ | names
    for output in ("hex", "escape"):
        command = [wheel_folder() / "bin" / "pg_dump"]
        options = environment | {"PGOPTIONS": f"-c bytea_output={output}"}
        yield f"bytea as {output}", subprocess.run(command, env=options, capture_output=True, check=True).stdout


def _compressed(service: Service) -> Parts:
    """Yield what the dump has only in compressed form."""
    for model in apps.get_models():
        for column in model._meta.concrete_fields:
            if isinstance(column, CompressedField):
                for cell in service.cells(model._meta.db_table, column.column):
                    yield column.name, expand(cell)


def _wal(service: Service) -> Parts:
    service.execute("CHECKPOINT")
    yield from _files(service.folders.cluster / WAL)


def _cluster(service: Service) -> Parts:
    service.execute("CHECKPOINT")
    yield from ((name, data) for name, data in _files(service.folders.cluster) if not name.startswith(f"{WAL}/"))


def _data_folder(service: Service) -> Parts:
    """Yield the files beside the database and the logs: settings, the demo's keys."""
    for path in service.folders.data.iterdir():
        if path.is_file():
            yield path.name, path.read_bytes()


def _redis(service: Service) -> Parts:
    """Yield the whole content of Redis, as it would be on a disk."""
    service.redis.config_set("rdbcompression", "no")
    service.redis.save()
    yield "dump.rdb", (service.folders.run / "dump.rdb").read_bytes()


def _redis_commands(service: Service) -> Parts:
    yield "MONITOR", "\n".join(service.commands).encode()


def _tasks(service: Service) -> Parts:
    for body in TASK.findall("\n".join(service.commands)):
        yield "task", base64.b64decode(body)


def _admin(service: Service) -> Parts:
    with Operator(service.ready["api"], service.ready["admin_user"], service.ready["admin_password"]) as operator:
        yield from operator.pages()


def _events(service: Service) -> Parts:
    path = "/events/?limit=100"
    while path:
        page = service.shop.ask("GET", path)
        yield path, page.content
        path = page.json().get("next", "").removeprefix("/v2")


def _callbacks(service: Service) -> Parts:
    for call in service.receiver.calls:
        yield call.event_id, json.dumps(call.headers).encode() + call.body


def _exported(path: str) -> Callable[[Service], Parts]:
    def read(service: Service) -> Parts:
        yield from (
            (got.path, str(got.headers).encode() + got.body) for got in service.listener.got if path in got.path
        )

    return read


def _answers(service: Service) -> Parts:
    yield from service.shop.answers


def _files(folder: Path) -> Parts:
    for path in folder.rglob("*"):
        try:
            yield str(path.relative_to(folder)), path.read_bytes()
        except (IsADirectoryError, FileNotFoundError):
            continue


PLACES: dict[str, Callable[[Service], Parts]] = {
    "web log": _log("web"),
    "worker log": _log("worker"),
    "preparation's log": _log("prepare"),
    "PostgreSQL's log": _log("postgres"),
    "Redis's log": _log("redis"),
    "dump": _dump,
    "compressed columns": _compressed,
    "write-ahead log": _wal,
    "database files": _cluster,
    "data folder": _data_folder,
    "Redis": _redis,
    "Redis commands": _redis_commands,
    "task payloads": _tasks,
    "admin pages": _admin,
    "event payloads": _events,
    "callbacks": _callbacks,
    "traces": _exported(TRACES),
    "Sentry": _exported(ERRORS),
    "answers": _answers,
}

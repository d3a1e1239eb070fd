"""Every place in which kaha leaves something, as named bytes to be looked through."""

import base64
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from payments.quickstart.servers.postgres import wheel_folder
from tests.canaries.house import House
from tests.canaries.operators import Operator

Parts = Iterator[tuple[str, bytes]]
WAL = "pg_wal"
TASK = re.compile(r'"body": "([A-Za-z0-9+/=]*)"')


def _log(name: str) -> Callable[[House], Parts]:
    def read(house: House) -> Parts:
        log = house.places.log(name)
        yield log.name, log.read_bytes()

    return read


def _dump(house: House) -> Parts:
    """The whole database as an operator dumps it, unlogged tables too, with bytes in hex and as they are."""
    database = house.database
    names = {"PGDATABASE": database.pop("dbname")} | {f"PG{name.upper()}": value for name, value in database.items()}
    environment = os.environ | names
    for output in ("hex", "escape"):
        command = [wheel_folder() / "bin" / "pg_dump"]
        options = environment | {"PGOPTIONS": f"-c bytea_output={output}"}
        yield f"bytea as {output}", subprocess.run(command, env=options, capture_output=True, check=True).stdout


def _wal(house: House) -> Parts:
    house.execute("CHECKPOINT")
    yield from _files(house.places.cluster / WAL)


def _cluster(house: House) -> Parts:
    house.execute("CHECKPOINT")
    yield from ((name, data) for name, data in _files(house.places.cluster) if not name.startswith(f"{WAL}/"))


def _data_folder(house: House) -> Parts:
    """What lies beside the database and the logs: settings, the demo's keys, beat's schedule."""
    for path in house.places.data.iterdir():
        if path.is_file():
            yield path.name, path.read_bytes()


def _redis(house: House) -> Parts:
    """Everything that is in it, as it would lie on a disk."""
    house.redis.config_set("rdbcompression", "no")
    house.redis.save()
    yield "dump.rdb", (house.places.run / "dump.rdb").read_bytes()


def _redis_commands(house: House) -> Parts:
    yield "MONITOR", "\n".join(house.commands).encode()


def _tasks(house: House) -> Parts:
    for body in TASK.findall("\n".join(house.commands)):
        yield "task", base64.b64decode(body)


def _admin(house: House) -> Parts:
    with Operator(house.ready["api"], house.ready["admin_user"], house.ready["admin_password"]) as operator:
        yield from operator.pages()


def _events(house: House) -> Parts:
    path = "/events/?limit=100"
    while path:
        page = house.shop.ask("GET", path)
        yield path, page.content
        path = page.json().get("next", "").removeprefix("/v2")


def _callbacks(house: House) -> Parts:
    for call in house.receiver.calls:
        yield call.event_id, json.dumps(call.headers).encode() + call.body


def _answers(house: House) -> Parts:
    yield from house.shop.answers


def _files(folder: Path) -> Parts:
    for path in folder.rglob("*"):
        try:
            yield str(path.relative_to(folder)), path.read_bytes()
        except (IsADirectoryError, FileNotFoundError):
            continue


PLACES: dict[str, Callable[[House], Parts]] = {
    "web log": _log("web"),
    "worker log": _log("worker"),
    "preparation's log": _log("prepare"),
    "PostgreSQL's log": _log("postgres"),
    "Redis's log": _log("redis"),
    "dump": _dump,
    "write-ahead log": _wal,
    "database files": _cluster,
    "data folder": _data_folder,
    "Redis": _redis,
    "Redis commands": _redis_commands,
    "task payloads": _tasks,
    "admin pages": _admin,
    "event payloads": _events,
    "callbacks": _callbacks,
    "answers": _answers,
}

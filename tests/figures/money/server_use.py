"""What PostgreSQL uses for something on this thread's connection: processor time, and bytes of its log."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from django.db import connection

Given = TypeVar("Given")


@dataclass(frozen=True)
class Use:
    """The processor time of the connection's process, in microseconds, and the bytes of the log, for one call."""

    cpu_us: float
    log_bytes: float


def measure_use(call: Callable[[Given], object], given: Sequence[Given]) -> Use:
    """Call `call` for each of `given`; return what one call used."""
    log, cpu = _log_bytes(), _cpu_us()
    for each in given:
        call(each)
    return Use((_cpu_us() - cpu) / len(given), (_log_bytes() - log) / len(given))


def run_sql(sql: str) -> list[Any]:
    """Run `sql` without a time limit; return its rows, if any."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        connection.connection.answer_seconds = None
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []


def _cpu_us() -> float:
    connection.ensure_connection()
    process = connection.connection.info.backend_pid
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1000


def _log_bytes() -> int:
    [[end]] = run_sql("SELECT pg_current_wal_insert_lsn() - '0/0'")
    return int(end)

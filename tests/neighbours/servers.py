"""Servers of others that are slow or never answer, each in a process of its own, and the ones that are stopped."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.db import connection
from redis import Redis

from tests.neighbours.flood import running
from tests.support.processes import free_port, with_children

PROVIDER_SECONDS = 9
BACKLOG = 1000


@contextmanager
def slow_provider_url() -> Iterator[Mapping[str, str]]:
    """Yield the environment that leads Xendit's connector to a server which answers 503 after PROVIDER_SECONDS."""
    port = free_port()
    with running(serve_slowly, port, PROVIDER_SECONDS):
        yield {"XENDIT_URL": f"http://127.0.0.1:{port}"}


async def serve_slowly(port: int, seconds: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Somebody who only looks whether the server is there sends nothing.
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(seconds)
        writer.write(b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=BACKLOG)
    await server.serve_forever()


@contextmanager
def hanging_receivers(count: int) -> Iterator[list[str]]:
    """Yield the URLs of receivers that take connections and answer nothing."""
    ports = [free_port() for _ in range(count)]
    with running(hang, ports):
        yield [f"http://127.0.0.1:{port}/hook" for port in ports]


async def hang(ports: list[int]) -> None:
    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    for port in ports:
        await asyncio.start_server(never, "127.0.0.1", port, backlog=BACKLOG)
    await asyncio.Event().wait()


def redis_pid() -> int:
    """Return the process ID of the Redis that the settings name."""
    with Redis.from_url(settings.REDIS_URL) as client:
        return int(client.info("server")["process_id"])


def postgres_pids() -> list[int]:
    """Return the process IDs of the PostgreSQL that the settings name, the one that starts the others first."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()
    status = Path(f"/proc/{backend}/status").read_text()
    return with_children(int(re.search(r"^PPid:\s+(\d+)", status, re.M)[1]))

"""The connection on which webhooks are claimed, to a PostgreSQL that does not answer."""

import asyncio
from collections.abc import Iterator

import pytest
from django.db import connection

from payments.db.backend.bounded_connection import SILENCE_SECONDS, NotAnswering
from payments.embedded.processes import wait_until
from payments.webhooks.claim_connection import connect
from tests.db_outages.conftest import LONG_SECONDS, Server, point_to

pytestmark = pytest.mark.long


@pytest.fixture
def frozen(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    point_to(server, monkeypatch)
    yield server
    server.thaw()
    assert wait_until(lambda: connection.is_answering, LONG_SECONDS)
    connection.close_pool()


def test_a_claim_that_gets_no_answer_ends(frozen: Server) -> None:
    async def claim() -> None:
        async with asyncio.timeout(LONG_SECONDS), await connect() as database:
            await database.execute("SELECT 1")
            frozen.freeze()
            await database.execute("SELECT 1")

    with pytest.raises(NotAnswering):
        asyncio.run(claim())


def test_a_statement_that_takes_long_is_waited_for_while_the_server_answers_others(frozen: Server) -> None:
    async def wait() -> tuple[object, ...] | None:
        async with asyncio.timeout(LONG_SECONDS), await connect() as database:
            await database.execute("SET statement_timeout = 0")
            taken = await database.execute("SELECT 1 FROM pg_sleep(%s)", [SILENCE_SECONDS + 2])
            return await taken.fetchone()

    assert asyncio.run(wait()) == (1,)

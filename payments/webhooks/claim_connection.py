"""The connection on which webhooks are claimed and their attempts recorded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.db import connection
from psycopg import AsyncConnection

from payments.db.backend.watched_connection import WatchedConnection

# A queue is read from its head, whatever the planner believes of its length; statistics lag behind a sudden one. So
# each row is found by an index, and none by going through them all, as other joins and scans do. A plan is made for the
# bounds that are given, because one for any bounds has to lock each month.
PLANNING = {
    **dict.fromkeys(("enable_bitmapscan", "enable_seqscan", "enable_hashjoin", "enable_mergejoin"), "off"),
    **dict.fromkeys(("enable_material", "enable_sort", "enable_incremental_sort"), "off"),
    "plan_cache_mode": "force_custom_plan",
}
PLAN_LOCALLY = ";".join(f"SET LOCAL {name} = {value}" for name, value in PLANNING.items())


async def connect() -> AsyncConnection:
    """Open an autocommit connection to Django's database.

    It ends where the server does not answer, and does not wait for the disk: a claim or a try that a crash of the
    server forgets leads to a repeat.
    """
    params = connection.get_connection_params()
    for name in ("cursor_factory", "context"):
        params.pop(name)
    if not connection.settings_dict["IS_POOLED"]:
        settings = {"synchronous_commit": "off", **PLANNING}
        options = [f"-c {name}={value}" for name, value in settings.items()]
        params["options"] = " ".join([params.get("options", ""), *options])
    opened = await WatchedConnection.connect(**params, autocommit=True)
    connection.watch(opened)  # type: ignore[attr-defined] # of the backend, which Django's stubs do not know
    return opened


@asynccontextmanager
async def planned(database: AsyncConnection) -> AsyncIterator[None]:
    """Have the settings of `connect` hold for one statement, in a transaction where a pooler is between."""
    if not connection.settings_dict["IS_POOLED"]:
        yield
        return
    async with database.transaction():
        await database.execute(f"{PLAN_LOCALLY};SET LOCAL synchronous_commit = off")
        yield

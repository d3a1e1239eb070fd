"""Time that passes for a merchant, as its program makes it pass."""

from datetime import timedelta
from typing import Any

from tests.client import Api, made

DAY = timedelta(days=1)
WEEK = timedelta(days=7)
HOUR = timedelta(hours=1)


def let_pass(api: Api, by: timedelta) -> dict[str, Any]:
    """Moves the test objects of the API's merchant through time."""
    return made(api.post("/test/clock", {"advance_seconds": int(by.total_seconds())}))

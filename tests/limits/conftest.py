"""A Redis server that a test starts, stops and pauses."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support import redis_process
from tests.support.redis_process import RedisProcess


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisProcess]:
    """Yield a Redis server that is not started yet."""
    with redis_process.own_redis(tmp_path, started=False) as server:
        yield server


@pytest.fixture
def who() -> str:
    """Return a subject that was never counted."""
    return uuid4().hex

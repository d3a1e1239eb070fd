"""Starts PostgreSQL and Redis for the whole run, before pytest-django reads the settings.

DATABASE_URL or REDIS_URL in the environment name outside servers to run on instead.
"""

import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from random_order.config import Config as RandomOrder

from payments import embedded
from payments.concurrency.garbage import begin_to_load, end_loading
from tests.support.postgres import Postgres
from tests.support.redis_process import RedisProcess

# The suite asks nothing of the disk, and threads of several workers want connections at once.
SETTINGS = {
    **{"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "max_connections": "300"},
    # A standby is copied and streams while other tests have checkpoints remove what they do not need.
    "wal_keep_size": "1GB",
}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        os.environ["REDIS_URL"] = _own_redis_database(os.environ["REDIS_URL"], int(worker.removeprefix("gw")))
    else:
        _start_what_is_missing(early_config)
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Leave out the long tests, the browser and other programs where neither paths nor marks are named."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.markexpr:
        config.option.markexpr = "not (long or browser or tools)"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Look for no garbage among the thousands of tests that are found, which took up to 8 % of a run."""
    begin_to_load()
    try:
        return (yield)
    finally:
        end_loading()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the seed of a random order, which the plugin prints in a header that `-q` leaves out."""
    if RandomOrder(config).is_enabled:
        terminalreporter.write_line(f"The order was random: --random-order-seed={RandomOrder(config).seed}")


def _own_redis_database(url: str, number: int) -> str:
    if url.startswith("unix:"):
        return f"{url}?db={number}"
    return f"{url.rpartition('/')[0]}/{number}"


def _start_what_is_missing(config: pytest.Config) -> None:
    given = set(os.environ)
    data = Path(tempfile.mkdtemp(prefix="kaha-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(data, ignore_errors=True))
    data.chmod(0o711)
    postgres, redis = Postgres(data), RedisProcess(data)
    embedded.put_into_environment(data)
    # Each of many threads that race keeps its own until it ends.
    os.environ.setdefault("DATABASE_CONNECTIONS", "200")
    # All tests of a process come from one address, and ask as fast as the machine is; those of limits set their own.
    for rate in ("RATE_LIMIT", "RATE_LIMIT_ANONYMOUS"):
        os.environ.setdefault(rate, "100000/second")
    # No window ends while a test counts in it; tests of rates take a year.
    os.environ.setdefault("DECLINE_WINDOW_MINUTES", str(360 * 24 * 60))
    if "DATABASE_URL" not in given:
        config.add_cleanup(postgres.stop)
        postgres.start(**SETTINGS)
    if "REDIS_URL" not in given:
        config.add_cleanup(redis.stop)
        redis.start()

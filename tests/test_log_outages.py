"""A log that breaks, fills up or hangs changes nothing that programs answer and do, and says later what it missed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.folders import PROJECT
from payments.embedded.processes import wait_until
from payments.models import Webhook
from tests.client import APPROVED, CARD_FIELDS, Api
from tests.collector import Collector
from tests.support.receiver import Receiver
from tests.support.web import web_server
from tests.support.worker import Worker, database_url, nothing_waits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# Far more than anything here takes, on a machine with a lot to do.
PATIENCE_SECONDS = 60
SOURCE = {"type": "card", "card": {**CARD_FIELDS, "number": APPROVED}}
OUTAGES: dict[str, Callable[[Collector], None]] = {"broken": Collector.go, "hanging": Collector.stall}
# Commands, each after the status that it ends with.
COMMANDS: dict[str, tuple[int, *tuple[str, ...]]] = {
    "done": (0, "run_sweep", "settle_due"),
    "refused": (1, "merchant", "roll-secret", "mer_0"),
    "misunderstood": (2, "run_sweep", "--nonsense"),
}


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """Read what the web server logs, or what a worker does."""
    collector = Collector(tmp_path / "log")
    for name in ("web.log", "worker.log"):
        (tmp_path / name).symlink_to(collector.path)
    yield collector
    collector.go()


def _client(url: str, shop: NewMerchant) -> httpx2.Client:
    return httpx2.Client(base_url=f"{url}/v2", auth=(shop.keys["sk_test"], ""), timeout=PATIENCE_SECONDS)


def charge(client: httpx2.Client) -> tuple[int, str]:
    """Return the status of a new charge, as HTTP has it and as its body has it."""
    source = client.post("/sources/", json=SOURCE)
    order = {"amount": 100, "currency": "PHP", "source": source.json()["id"], "description": "Taho"}
    answer = client.post("/charges/", json=order)
    return answer.status_code, answer.json()["status"]


def test_charges_are_answered_while_nobody_reads_the_log_which_says_later_how_many_lines_were_lost(
    shop: NewMerchant, collector: Collector, tmp_path: Path
) -> None:
    with web_server(tmp_path, workers=1) as url, _client(url, shop) as client:
        for number, begin in enumerate(OUTAGES.values(), 1):
            begin(collector)
            assert [charge(client) for _ in range(10)] == [(201, "succeeded")] * 10
            collector.come()
            charge(client)
            assert wait_until(lambda lost=20 * number: collector.lost() == lost, PATIENCE_SECONDS)


def test_charges_are_answered_while_the_disk_of_the_log_is_full(shop: NewMerchant, tmp_path: Path) -> None:
    (tmp_path / "web.log").symlink_to("/dev/full")
    with web_server(tmp_path, workers=1) as url, _client(url, shop) as client:
        assert [charge(client) for _ in range(10)] == [(201, "succeeded")] * 10


@pytest.mark.parametrize(("first", "last"), [("broken", "hanging"), ("hanging", "broken")])
def test_a_worker_starts_delivers_and_ends_while_nobody_reads_its_log_and_says_between_how_many_lines_were_lost(
    first: str, last: str, api: Api, collector: Collector, tmp_path: Path
) -> None:
    with Receiver() as receiver:
        deliver(api, receiver)
        OUTAGES[first](collector)
        with started_worker(tmp_path) as worker:
            assert wait_until(nothing_waits, PATIENCE_SECONDS)
            collector.come()
            assert wait_until(lambda: collector.lost() > 0, PATIENCE_SECONDS)
            OUTAGES[last](collector)
            deliver(api, receiver)
            assert wait_until(nothing_waits, PATIENCE_SECONDS)
            worker.program.send(signal.SIGTERM)
            assert worker.program.wait() == 0
        assert {call.event["type"] for call in receiver.calls} >= {"charge.created", "charge.succeeded"}


def deliver(api: Api, receiver: Receiver) -> None:
    """Make an event for the receiver."""
    api.charge_source(api.source(redirect={"success": receiver.url, "fail": receiver.url, "notify": receiver.url}))
    assert Webhook.objects.exists()


@contextmanager
def started_worker(folder: Path) -> Iterator[Worker]:
    """Yield a worker that logs to `folder`, however broken that is."""
    # As for a collector that ends as soon as it has started: opening a pipe without a reader would wait.
    kept_open = os.open(folder / "worker.log", os.O_RDWR | os.O_NONBLOCK)
    worker = Worker(folder)
    # At this level an idle worker logs its sweeps.
    worker.start("--pool=threads", NOTIFY_ALLOW_LOOPBACK="true", LOG_LEVEL="DEBUG")
    os.close(kept_open)
    try:
        yield worker
    finally:
        worker.kill()


@pytest.mark.parametrize(("outage", "command"), [("broken", "done"), ("full", "refused"), ("hanging", "misunderstood")])
def test_a_command_ends_with_its_own_status_whatever_happens_to_standard_error(
    outage: str, command: str, tmp_path: Path
) -> None:
    status, *arguments = COMMANDS[command]
    standard_error = broken_standard_error(outage, tmp_path)
    manage = [sys.executable, "-W", "always", "manage.py", *arguments]
    environment = {**os.environ, "DATABASE_URL": database_url()}
    done = subprocess.run(
        manage, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=standard_error, timeout=PATIENCE_SECONDS
    )
    os.close(standard_error)
    assert done.returncode == status
    assert bool(done.stdout) == (status == 0)


def broken_standard_error(outage: str, folder: Path) -> int:
    """Return a descriptor to which nobody can write."""
    if outage == "full":
        return os.open("/dev/full", os.O_WRONLY)
    collector = Collector(folder / "standard-error")
    written = os.open(collector.path, os.O_WRONLY)
    OUTAGES[outage](collector)
    return written

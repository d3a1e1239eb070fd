"""One round: the neighbour is timed while all is quiet, and again while somebody misbehaves."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from payments.domain.merchants.merchants import create_merchant
from tests.checkout.shelf import linked
from tests.client import Api
from tests.neighbours.logs import Log
from tests.neighbours.offences import Offence, Scene
from tests.neighbours.probes import PAUSE_SECONDS, TIMEOUT_SECONDS, Neighbour, Samples
from tests.pages.waiting_charges import path_of
from tests.support.receiver import Receiver
from tests.support.web import web_process
from tests.support.worker import Worker

# More than may be kept for one address.
PIECES = 10_000
LIMITS = {"RATE_LIMIT": "300/second", "RATE_LIMIT_ANONYMOUS": "30/second"}


@dataclass(frozen=True)
class Round:
    """What the neighbour saw while all was quiet, and while somebody misbehaved."""

    quiet: Samples
    disturbed: Samples


@dataclass(frozen=True)
class Servers:
    """A web server and a worker that run, and the logs that they write to."""

    url: str
    logs: Mapping[str, Log]


def measure(folder: Path, offence: Offence, quiet_seconds: float, seconds: float) -> Round:
    """Watch the neighbour as `watch` does, at servers that nobody else has used."""
    with ExitStack() as stack:
        environment = stack.enter_context(offence.environment()) if offence.environment else {}
        return watch(stack.enter_context(serving(folder, **environment)), offence, quiet_seconds, seconds)


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[Servers]:
    """Start web server and worker; they end with the block."""
    logs = {name: Log(folder / f"{name}.log") for name in ("web", "worker")}
    worker = Worker(folder)
    with web_process(folder, **(LIMITS | environment)) as (url, _):
        worker.start(**environment)
        try:
            yield Servers(url, logs)
        finally:
            worker.kill()


def watch(
    servers: Servers,
    offence: Offence,
    quiet_seconds: float,
    seconds: float,
    timeout_seconds: float = TIMEOUT_SECONDS,
    pause_seconds: float = PAUSE_SECONDS,
) -> Round:
    """Watch a new neighbour for `quiet_seconds`, at least once, and for `seconds` of `offence`."""
    shop = create_merchant("Neighbour")
    items = [{"name": "Halo-halo", "amount": 100, "quantity": PIECES}]
    link = path_of(linked(Api(shop.keys["sk_test"]), line_items=items)["url"])
    scene = Scene(servers.url, create_merchant("Offender"), shop, link, [], servers.logs)
    with Receiver() as receiver:
        neighbour = Neighbour(scene.url, shop, link, receiver, timeout_seconds, pause_seconds)
        offence.prepare(scene)
        if quiet_seconds:
            # The first requests of a process wait for what it loads late.
            with neighbour.watching(offence.without):
                time.sleep(1)
        with neighbour.watching(offence.without) as quiet:
            time.sleep(quiet_seconds)
        neighbour.tolerated = offence.tolerated
        with offence.begin(scene), neighbour.watching(offence.without) as disturbed:
            time.sleep(seconds)
        return Round(quiet, disturbed)

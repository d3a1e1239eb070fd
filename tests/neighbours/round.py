"""One round: the neighbour is timed while all is quiet, and again while somebody misbehaves."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from payments.domain.merchants.merchants import create_merchant
from tests.neighbours.logs import Log
from tests.neighbours.offences import Offence, Scene
from tests.neighbours.probes import TIMEOUT_SECONDS, Neighbour, Samples
from tests.support.receiver import Receiver
from tests.support.web import web_process
from tests.support.worker import Worker

LIMITS = {"RATE_LIMIT": "300/second", "RATE_LIMIT_ANONYMOUS": "30/second"}


@dataclass(frozen=True)
class Round:
    """What the neighbour saw while all was quiet, and while somebody misbehaved."""

    quiet: Samples
    disturbed: Samples


def measure(
    folder: Path,
    offence: Offence,
    quiet_seconds: float,
    seconds: float,
    timeout_seconds: float = TIMEOUT_SECONDS,
    **environment: str,
) -> Round:
    """Start web server and worker, and watch the neighbour for `quiet_seconds` and for `seconds` of `offence`."""
    with _scene(folder, offence, environment) as scene, Receiver() as receiver:
        neighbour = Neighbour(scene.url, scene.neighbour, receiver, timeout_seconds)
        offence.prepare(scene)
        # The first requests of a process wait for what it loads late.
        with neighbour.watching(offence.without):
            time.sleep(1)
        with neighbour.watching(offence.without) as quiet:
            time.sleep(quiet_seconds)
        neighbour.tolerated = offence.tolerated
        with offence.begin(scene), neighbour.watching(offence.without) as disturbed:
            time.sleep(seconds)
        return Round(quiet, disturbed)


@contextmanager
def _scene(folder: Path, offence: Offence, environment: dict[str, str]) -> Iterator[Scene]:
    offender, neighbour = create_merchant("Offender"), create_merchant("Neighbour")
    logs = {name: Log(folder / f"{name}.log") for name in ("web", "worker")}
    worker = Worker(folder)
    with ExitStack() as stack:
        if offence.environment:
            environment = {**environment, **stack.enter_context(offence.environment())}
        stack.callback(worker.kill)
        url, _ = stack.enter_context(web_process(folder, **(LIMITS | environment)))
        worker.start(**environment)
        yield Scene(url, offender, neighbour, [], logs)

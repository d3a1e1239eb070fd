"""The service that is measured: as the quickstart starts it, on servers and a data folder that are gone afterwards."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import django

from payments.quickstart import ports
from payments.quickstart.programs import Programs
from payments.quickstart.servers.places import Places, make_running_folders, prepare
from payments.quickstart.supervisor import Supervisor

# Whatever else the environment sets holds for the run, so that its price can be told.
OUTSIDE_SERVERS = ("DATABASE_URL", "REDIS_URL")
# What is counted is still counted.
UNREACHED = 999_999_999
LIMITS = {
    "RATE_LIMIT": f"{UNREACHED}/second",
    "RATE_LIMIT_ANONYMOUS": f"{UNREACHED}/second",
    "DECLINE_LIMITS_TEST": ",".join(f"{kind}={UNREACHED}" for kind in ("card", "address", "key", "merchant")),
}


@dataclass(frozen=True)
class Service:
    """What runs: where, the secret key of a merchant, the environment that leads to it, and process IDs by program."""

    places: Places
    port: int
    secret_key: str
    environment: Mapping[str, str]
    pids: Mapping[str, int]

    @property
    def measured_pids(self) -> dict[str, int]:
        """Of those whose CPU time is told."""
        return {"server": self.pids["web"], "postgres": self.pids["postgres"]}


@contextmanager
def scratch_service(supervisor: Supervisor) -> Iterator[Service]:
    """All of kaha's programs run, and Django's settings lead to them. Raises Failed, EmbeddedError or Stopped."""
    with service_beside(supervisor) as service:
        os.environ |= service.environment
        django.setup()
        yield service


@contextmanager
def service_beside(supervisor: Supervisor, **environment: str) -> Iterator[Service]:
    """The same with settings of its own, to be started before the one that this process is led to."""
    for name in OUTSIDE_SERVERS:
        os.environ.pop(name, None)
    with ExitStack() as cleanup:
        places = cleanup.enter_context(_scratch_places())
        port = cleanup.enter_context(ports.claim(0)).getsockname()[1]
        programs = Programs(places, port, supervisor)
        programs.environment |= LIMITS | environment
        cleanup.callback(programs.stop)
        demo = programs.start()
        yield Service(places, port, demo["sk_test"], programs.environment, programs.pids())


@contextmanager
def _scratch_places() -> Iterator[Places]:
    data = Path(tempfile.mkdtemp(prefix="kaha-benchmark-"))
    # PostgreSQL's own user, where we are root, must get through.
    data.chmod(0o711)
    places = prepare(data)
    make_running_folders(places)
    try:
        yield places
    finally:
        for folder in places.folders():
            shutil.rmtree(folder, ignore_errors=True)

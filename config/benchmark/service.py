"""The service that is measured: as the quickstart starts it, on servers and a data folder that are gone afterwards."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import django

from config.embedded.places import Places, make_running_folders, prepare
from config.quickstart import ports
from config.quickstart.programs import Programs
from config.quickstart.supervisor import Supervisor

# Whatever else the environment sets holds for the run, so that its price can be told.
OUTSIDE_SERVERS = ("DATABASE_URL", "REDIS_URL")
# What is counted is still counted.
UNREACHED = 999_999_999
LIMITS = {
    "RATE_LIMIT": f"{UNREACHED}/second",
    "DECLINE_LIMITS_TEST": ",".join(f"{kind}={UNREACHED}" for kind in ("card", "address", "key", "merchant")),
}


@dataclass(frozen=True)
class Service:
    """What runs: where, the secret key of a merchant, and the process IDs of the web server and of PostgreSQL."""

    places: Places
    port: int
    secret_key: str
    server_pid: int
    postgres_pid: int


@contextmanager
def scratch_service(supervisor: Supervisor) -> Iterator[Service]:
    """All of kaha's programs run, and Django's settings lead to them. Raises Failed, EmbeddedError or Stopped."""
    for name in OUTSIDE_SERVERS:
        os.environ.pop(name, None)
    os.environ |= LIMITS
    with ExitStack() as cleanup:
        places = cleanup.enter_context(_scratch_places())
        port = cleanup.enter_context(ports.claim(0)).getsockname()[1]
        programs = Programs(places, port, supervisor)
        cleanup.callback(programs.stop)
        demo = programs.start()
        os.environ |= programs.environment
        django.setup()
        pids = programs.pids()
        yield Service(places, port, demo["sk_test"], pids["web"], pids["postgres"])


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

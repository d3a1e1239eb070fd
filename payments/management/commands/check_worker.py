import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error

from payments.sweeps.heartbeats import SILENT_SECONDS
from payments.sweeps.state import read_state
from payments.sweeps.timer import this_host


class Command(BaseCommand):
    help = (
        f"Says whether a worker of this host was seen within {SILENT_SECONDS:g} seconds. Exits with status 1 if none "
        "was: a health check for the container or the unit of a worker."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=this_host(), help="another host's workers (default: %(default)s)")
        parser.add_argument("--any-host", action="store_true", help="workers of all hosts")

    def handle(self, *, host: str, any_host: bool, **_: Any) -> None:
        try:
            state = read_state()
        except Error as error:
            raise CommandError(f"PostgreSQL does not answer ({type(error).__name__}).") from None
        known = [worker for worker in state.workers if any_host or worker.host == host]
        for worker in known:
            word = "works" if worker in state.alive else "has stopped" if worker.ended_at else "is silent"
            seconds = (state.now - worker.seen_at).total_seconds()
            self.stdout.write(
                f"{worker} {word}: seen {seconds:.0f} s ago, {worker.busy} of {worker.threads} threads busy"
            )
        if not known:
            self.stdout.write(f"no worker of {'any host' if any_host else host} is known")
        if not any(worker in state.alive for worker in known):
            sys.exit(1)

"""Servers for one run of a figure: PostgreSQL and Redis below a new folder, as durable as in production."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import django

from payments.quickstart import servers
from payments.quickstart.servers import postgres, redis_server
from payments.quickstart.servers.places import Places, make_running_folders, prepare
from payments.quickstart.servers.processes import wait_until

START_TIMEOUT_SECONDS = 30
# All else is as in production.
SETTINGS = {"max_connections": "300"}


@contextmanager
def scratch_servers() -> Iterator[Places]:
    """Start both servers, point the settings to them, migrate the database, and yield where they are."""
    data = Path(tempfile.mkdtemp(prefix="kaha-figures-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, data, ignore_errors=True)
        data.chmod(0o711)
        places = prepare(data)
        make_running_folders(places)
        os.environ |= {"KAHA_DATA": str(data), "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ |= servers.environment(places)
        postgres.create(places)
        stack.callback(postgres.stop_server, postgres.start(places, SETTINGS))
        stack.callback(redis_server.stop_server, redis_server.start(places))
        assert wait_until(lambda: postgres.is_ready(places), START_TIMEOUT_SECONDS)
        assert wait_until(lambda: redis_server.is_ready(places), START_TIMEOUT_SECONDS)
        django.setup()
        _migrate()
        yield places


def _migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)

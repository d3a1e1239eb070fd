"""Servers for one run of a figure: PostgreSQL and Redis below a new folder, as durable as in production."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import django

from payments import embedded
from payments.embedded import postgres, redis_server
from payments.embedded.folders import Folders, make_running_folders, prepare
from payments.embedded.processes import wait_until

START_TIMEOUT_SECONDS = 30
# All else is as in production.
SETTINGS = {"max_connections": "300"}


@contextmanager
def scratch_servers() -> Iterator[Folders]:
    """Start both servers, point the settings to them, migrate the database, and yield where they are."""
    data = Path(tempfile.mkdtemp(prefix="kaha-figures-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, data, ignore_errors=True)
        data.chmod(0o711)
        folders = prepare(data)
        make_running_folders(folders)
        os.environ |= {"KAHA_DATA": str(data), "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ |= embedded.environment(folders)
        postgres.create(folders)
        stack.callback(postgres.stop_server, postgres.start(folders, SETTINGS))
        stack.callback(redis_server.stop_server, redis_server.start(folders))
        assert wait_until(lambda: postgres.is_ready(folders), START_TIMEOUT_SECONDS)
        assert wait_until(lambda: redis_server.is_ready(folders), START_TIMEOUT_SECONDS)
        django.setup()
        _migrate()
        yield folders


def _migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)

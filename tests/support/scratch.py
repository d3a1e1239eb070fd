"""Servers for one run of a figure: PostgreSQL and Redis below a new folder, as durable as in production."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import django

from payments import embedded
from payments.embedded.folders import Folders
from tests.support.postgres import Postgres, data_folder
from tests.support.redis_process import RedisProcess

# All else is as in production.
SETTINGS = {"max_connections": "300"}


@contextmanager
def scratch_servers(**settings: str) -> Iterator[Folders]:
    """Start both servers, point the settings to them, migrate the database, and yield where they are.

    `settings` are further ones of PostgreSQL.
    """
    with ExitStack() as stack:
        data = stack.enter_context(data_folder())
        postgres, redis = Postgres(data), RedisProcess(data)
        os.environ |= {"KAHA_DATA": str(data), "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ |= embedded.environment(postgres.folders)
        for server in (postgres, redis):
            stack.callback(server.stop)
        postgres.start(**SETTINGS, **settings)
        redis.start()
        django.setup()
        _migrate()
        yield postgres.folders


def _migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)

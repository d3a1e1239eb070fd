"""PostgreSQL and Redis from wheels, below one data folder, for whoever has no servers of their own.

Settings call `put_into_environment`; `manage.py` runs its commands inside `running_database`; the quickstart
and the tests start the servers themselves.
"""

import os
from pathlib import Path

from payments.quickstart.servers import postgres, redis_server
from payments.quickstart.servers.places import Places, prepare
from payments.quickstart.servers.secrets_file import secrets_of


def environment(places: Places) -> dict[str, str]:
    """The environment variables that run kaha on the embedded servers of these places."""
    secrets = secrets_of(places.data)
    return {
        "DATABASE_URL": postgres.url(places, secrets.pop("POSTGRES_PASSWORD")),
        "REDIS_URL": redis_server.url(places),
        "HTTPS": "false",
        "ADMIN_MFA": "false",
        "NOTIFY_ALLOW_LOOPBACK": "true",
        "KAHA_CLOCK": "true",
        **secrets,
    }


def put_into_environment(data: Path) -> None:
    """Set what the environment lacks for the servers below `data`, making secrets and folders at first use.

    Starts nothing. Raises EmbeddedError with one line for the user where the folder cannot be used.
    """
    for name, value in environment(prepare(data)).items():
        os.environ.setdefault(name, value)

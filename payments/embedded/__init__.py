"""PostgreSQL and Redis, as Valkey, from wheels, below one data folder, where no other servers are named.

Settings call `put_into_environment`; `manage.py` runs its commands inside `database_for`; the quickstart and the tests
start the servers themselves.
"""

import os
from pathlib import Path

from payments.embedded import postgres, redis_server
from payments.embedded.folders import Folders, prepare, secrets_of


def environment(folders: Folders) -> dict[str, str]:
    """Return the environment variables that run kaha on the embedded servers of these folders."""
    known = secrets_of(folders.data)
    return {
        "DATABASE_URL": postgres.url(folders, known.pop("POSTGRES_PASSWORD")),
        "REDIS_URL": redis_server.url(folders),
        "HTTPS": "false",
        "ADMIN_MFA": "false",
        "NOTIFY_ALLOW_LOOPBACK": "true",
        "KAHA_CLOCK": "true",
        "WEB_DRAIN_SECONDS": "0",
        **known,
    }


def put_into_environment(data: Path) -> None:
    """Set what the environment lacks for the servers below `data`, making secrets and folders at first use.

    Starts nothing. Raises EmbeddedError with one line for the user where the folder cannot be used.
    """
    for name, value in environment(prepare(data)).items():
        os.environ.setdefault(name, value)

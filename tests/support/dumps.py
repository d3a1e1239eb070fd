"""Databases as SQL, written and restored by PostgreSQL's own programs."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection
from psycopg.sql import SQL, Identifier

from payments.embedded import postgres

PROGRAMS = postgres.wheel_folder() / "bin"
# What older servers do not know, and what is another word in every dump.
NOT_IN_A_DUMP = re.compile(r"(?m)^(SET transaction_timeout = 0;|\\(un)?restrict .*)\n|,MAINTAIN\b")


def dump_of(url: str, *options: str) -> str:
    """Return a database as SQL; what is in unlogged tables, security codes among it, is left out."""
    command = [PROGRAMS / "pg_dump", "--no-owner", "--no-unlogged-table-data", *options, libpq(url)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return NOT_IN_A_DUMP.sub("", done.stdout)


def restore(url: str, dump: str) -> None:
    """Execute a dump in an empty database."""
    command = [PROGRAMS / "psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", libpq(url)]
    subprocess.run(command, check=True, capture_output=True, text=True, input=dump)


def libpq(url: str) -> str:
    """Return the address as PostgreSQL's own programs read it, which take a socket's folder as an option."""
    return re.sub(r"@/([/%].*)/([^/?]+)$", r"@/\2?host=\1", url)


@contextmanager
def database(name: str, dump: str) -> Iterator[str]:
    """Restore a dump into a database beside that of this process; yield its address."""
    server = os.environ["DATABASE_URL"]
    place, mark, options = server.partition("?")
    beside = f"{connection.settings_dict['NAME']}_{name}"
    url = f"{place.rpartition('/')[0]}/{beside}{mark}{options}"
    drop = SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(beside))
    with psycopg.connect(libpq(server), autocommit=True) as there:
        there.execute(drop)
        there.execute(SQL("CREATE DATABASE {}").format(Identifier(beside)))
        try:
            restore(url, dump)
            yield url
        finally:
            there.execute(drop)

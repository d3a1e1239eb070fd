"""What `manage.py` does around a command: the embedded database runs while the command does."""

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from payments.embedded import postgres
from payments.embedded.folders import (
    Folders,
    data_folder,
    drop_temporary_folder,
    make_running_folders,
    prepare,
)
from payments.embedded.locks import FileLock
from payments.embedded.processes import EmbeddedError

WITHOUT_DATABASE = {
    *("--help", "--version", "-h", "help", "version"),
    *("check", "collectstatic", "compilemessages", "diffsettings", "findstatic", "makemessages"),
    *("makemigrations", "spectacular", "startapp", "startproject"),
}
START_TIMEOUT_SECONDS = 60
# The owner of the lock is alive, and a busy machine takes minutes to make a database.
JOIN_TIMEOUT_SECONDS = 600


@contextmanager
def database_for(arguments: list[str]) -> Iterator[None]:
    """Have the embedded database run while a `manage.py` command with these arguments does, if it needs it.

    A server that another process runs on the same data folder is shared; one of our own stops afterwards. Only
    `migrate` makes a new database. Raises EmbeddedError where there is none or it cannot run.
    """
    is_outside = os.environ.get("DATABASE_URL") or os.environ.get("DATABASE_URL_FILE")
    if is_outside or not arguments or arguments[0] in WITHOUT_DATABASE:
        yield
        return
    may_make_one = arguments[0] == "migrate"
    if not may_make_one and not data_folder().exists():
        raise _no_database(data_folder())
    folders = prepare(data_folder())
    # `dbshell` finds the wheel's psql where the machine has none.
    os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{postgres.wheel_folder() / 'bin'}"
    with (
        closing(FileLock(folders.data / "server.lock")) as owner,
        closing(FileLock(folders.data / "users.lock")) as users,
    ):
        if _joined(folders, owner, users):
            yield
            return
        if not may_make_one and not folders.cluster.exists():
            raise _no_database(folders.data)
        owner.write_owner(arguments[0])
        with _own_server(folders, users):
            yield


def _no_database(data: Path) -> EmbeddedError:
    """Return the error of a command that would look at an empty database in place of the one that is meant."""
    return EmbeddedError(
        f"there is no database in {data}. Name the data folder of a running quickstart, as it shows it "
        "(KAHA_DATA=…), or an outside database (DATABASE_URL), or make a new one here with `manage.py migrate`."
    )


def _joined(folders: Folders, owner: FileLock, users: FileLock) -> bool:
    """Return whether another process's server can be used; if not, the owner's lock is ours now."""
    deadline = time.monotonic() + JOIN_TIMEOUT_SECONDS
    while not owner.take():
        if users.take(fcntl.LOCK_SH) and postgres.is_ready(folders) and postgres.is_migrated(folders):
            return True
        users.release()
        if time.monotonic() > deadline:
            raise EmbeddedError(f"the database of {owner.owner()} in {folders.data} does not answer.")
        time.sleep(0.05)
    return False


@contextmanager
def _own_server(folders: Folders, users: FileLock) -> Iterator[None]:
    make_running_folders(folders)
    if not folders.cluster.exists():
        print(f"kaha: making a database in {folders.data}", file=sys.stderr)
    postgres.create(folders)
    process = postgres.start(folders)
    try:
        postgres.wait_until_ready(folders, process, START_TIMEOUT_SECONDS)
        if not postgres.is_migrated(folders):
            # Django reads its settings here, which it could not do before the data folder was there.
            import django
            from django.core.management import call_command

            django.setup()
            call_command("migrate", verbosity=0, interactive=False)
            postgres.mark_migrated(folders)
        try:
            yield
        finally:
            if not users.take():
                text = "done; another command still uses the database, waiting for it (Ctrl-C does not)"
                print(f"kaha: {text}", file=sys.stderr)
                users.wait()
    finally:
        postgres.stop_server(process)
        drop_temporary_folder(folders)

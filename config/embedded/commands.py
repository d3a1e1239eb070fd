"""What `manage.py` does around a command: the embedded database runs while the command does."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from config.embedded import postgres
from config.embedded.errors import EmbeddedError
from config.embedded.ownership import FileLock, owner_lock, users_lock
from config.embedded.places import Places, data_folder, drop_temporary_folder, make_running_folders, prepare

WITHOUT_DATABASE = {
    *("--help", "--version", "-h", "help", "version"),
    *("check", "collectstatic", "compilemessages", "diffsettings", "findstatic", "makemessages"),
    *("makemigrations", "spectacular", "startapp", "startproject"),
}
START_TIMEOUT_SECONDS = 60


@contextmanager
def database_for(arguments: list[str]) -> Iterator[None]:
    """Have the embedded database run while a `manage.py` command with these arguments does, if it needs it.

    Somebody else's on the same data folder is shared; one of our own stops afterwards. A new one gets its
    tables first. Raises EmbeddedError where it cannot run.
    """
    if os.environ.get("DATABASE_URL") or not arguments or arguments[0] in WITHOUT_DATABASE:
        yield
        return
    places = prepare(data_folder())
    _offer_psql()
    with _running(places, arguments[0]):
        yield


def _offer_psql() -> None:
    """`dbshell` finds the wheel's psql where the machine has none."""
    programs = postgres.wheel_folder() / "bin"
    os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{programs}"


@contextmanager
def _running(places: Places, command: str) -> Iterator[None]:
    with owner_lock(places.data) as owner, users_lock(places.data) as users:
        if not _joined(places, owner, users):
            owner.write(f"process {os.getpid()} ({command})")
            with _own_server(places, users):
                yield
            return
        yield


def _joined(places: Places, owner: FileLock, users: FileLock) -> bool:
    """Whether somebody else's server can be used; if not, the owner's lock is ours now."""
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while not owner.try_alone():
        if users.try_shared() and postgres.is_ready(places) and postgres.is_migrated(places):
            return True
        users.let_go()
        if time.monotonic() > deadline:
            raise EmbeddedError(f"the database of {owner.read()} in {places.data} does not answer.")
        time.sleep(0.05)
    return False


@contextmanager
def _own_server(places: Places, users: FileLock) -> Iterator[None]:
    make_running_folders(places)
    if not places.cluster.exists():
        _say(f"making a database in {places.data}")
    postgres.create(places)
    process = postgres.start(places)
    try:
        postgres.wait_until_ready(places, process, START_TIMEOUT_SECONDS)
        if not postgres.is_migrated(places):
            _migrate(places)
        try:
            yield
        finally:
            _wait_for(users)
    finally:
        postgres.stop_server(process)
        drop_temporary_folder(places)


def _migrate(places: Places) -> None:
    # Django reads its settings here, which they could not do before the data folder was there.
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    postgres.mark_migrated(places)


def _wait_for(users: FileLock) -> None:
    if not users.try_alone():
        _say("done; another command still uses the database, waiting for it (Ctrl-C does not)")
        users.wait_alone()


def _say(text: str) -> None:
    print(f"kaha: {text}", file=sys.stderr)

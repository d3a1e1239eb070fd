"""The drill of the guide Backups and upgrades: back up under load, lose a time of payments, restore, and recover it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from payments.embedded.folders import PROJECT
from payments.embedded.processes import wait_until
from tests.restore.cluster import IS_INSTALLED, OWNER, PROGRAMS, Cluster
from tests.support.processes import running

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not IS_INSTALLED, reason="needs Debian's postgresql-15 and pgbackrest"),
]

WAIT_SECONDS = 60
BOOKS = ("simulator_simulatedpayment", "simulator_simulatedoperation", "simulator_entry", "simulator_message")
# Money or holds that the simulator has and neither charges nor items name.
MISSING = """
SELECT count(*) FROM simulator_simulatedpayment p
WHERE p.state IN ('held', 'captured') AND NOT EXISTS (SELECT FROM payments_attempt a WHERE a.id = p.reference::uuid)
    AND NOT EXISTS (
        SELECT FROM payments_reportline l JOIN payments_reconciliationitem i ON i.line_id = l.id
        WHERE l.reference = p.reference AND i.state = 'open'
    )
"""
LOST = """
SELECT count(*) FROM simulator_simulatedpayment p WHERE p.state IN ('held', 'captured')
    AND NOT EXISTS (SELECT FROM payments_attempt a WHERE a.id = p.reference::uuid)
"""
# Captures, refunds and voids of charges that are known here, which must be in our books to the cent.
LOST_OPERATIONS = """
SELECT count(*) FROM simulator_simulatedoperation o JOIN simulator_simulatedpayment p ON p.id = o.payment_id
WHERE o.state = 'succeeded' AND EXISTS (SELECT FROM payments_attempt a WHERE a.id = p.reference::uuid)
    AND NOT EXISTS (SELECT FROM payments_attempt a WHERE a.id = o.reference::uuid)
"""


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    # Directly below /tmp: the owner must reach it, and the path of a socket is short.
    folder = Path(tempfile.mkdtemp(prefix="kaha-drill-", dir="/tmp"))
    made = Cluster(folder)
    try:
        made.create()
        yield made
    finally:
        if (made.data / "postmaster.pid").exists():
            made.stop()
        shutil.rmtree(folder, ignore_errors=True)


def manage(cluster: Cluster, *arguments: str) -> tuple[int, str]:
    """Run a command of kaha on this cluster; return its exit status and what it prints."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env=os.environ | {"DATABASE_URL": cluster.url, "DATABASE_CONNECTIONS": "10"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@contextmanager
def paying(cluster: Cluster, key: str, log: Path) -> Iterator[None]:
    """Have programs of a merchant pay for the duration of the block."""
    environment = os.environ | {"DATABASE_URL": cluster.url, "DATABASE_CONNECTIONS": "10"}
    command = [sys.executable, "-m", "tests.restore.programs", key, str(log)]
    with running(command, log=log.parent / "paying.log", environment=environment, stdin=subprocess.PIPE) as programs:
        yield
        assert programs.wait() == 0, programs.errors[-2_000:]


def wait_for_lines(log: Path, count: int) -> None:
    """Wait until so many more charges were acknowledged."""
    wanted = _lines(log) + count
    assert wait_until(lambda: _lines(log) >= wanted, WAIT_SECONDS), "the programs do not pay"


def _lines(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_nothing_that_the_provider_did_in_the_lost_time_is_missing(cluster: Cluster, tmp_path: Path) -> None:
    status, output = manage(cluster, "migrate", "--verbosity", "0")
    assert status == 0, output
    status, output = manage(cluster, "merchant", "create", "Sari Store")
    key = next(word for word in output.split() if word.startswith("sk_test_"))
    log = tmp_path / "acknowledged"
    with paying(cluster, key, log):
        wait_for_lines(log, 20)
        cluster.back_up("backup", "--type=full")
        # pgBackRest knows the end of a backup to the second, and restores to no moment within that second.
        cluster.sql("SELECT pg_sleep(2)")
        wait_for_lines(log, 30)
        moment = cluster.sql("SELECT now()")
        wait_for_lines(log, 60)
    books = cluster.folder / "books.sql"
    tables = [part for table in BOOKS for part in ("-t", table)]
    dump = [PROGRAMS / "pg_dump", "-h", cluster.folder, "-U", OWNER, "--data-only", "--disable-triggers"]
    cluster.run([*dump, *tables, "-f", books, "kaha"])
    cluster.sql("SELECT pg_switch_wal()")
    cluster.stop()

    cluster.back_up("restore", "--delta", "--type=time", f"--target={moment}", "--target-action=promote")
    cluster.start()
    assert wait_until(lambda: cluster.sql("SELECT pg_is_in_recovery()") == "f", WAIT_SECONDS)
    # The simulator's books are a provider's, which no restore of ours changes.
    cluster.sql(
        "SET session_replication_role = replica;"
        + "".join(f"DELETE FROM {table};" for table in reversed(BOOKS))
        + books.read_text()
    )
    assert manage(cluster, "migrate", "--check")[0] == 0
    assert manage(cluster, "verify_audit")[0] == 0
    lost = int(cluster.sql(LOST))
    assert lost
    assert int(cluster.sql(LOST_OPERATIONS))

    status, output = manage(cluster, "recover_after_restore", "--since", moment)
    assert status == 1, output
    assert "booked: " in output
    assert (cluster.sql(MISSING), cluster.sql(LOST_OPERATIONS)) == ("0", "0"), output
    assert cluster.sql("SELECT count(*) FROM payments_attempt WHERE state = 'unknown'") == "0"
    # What is left is money of charges that nobody knows here.
    manage(cluster, "check_money")
    failures = cluster.sql("SELECT failures FROM payments_moneycheck ORDER BY id DESC LIMIT 1")
    assert [failure["name"] for failure in json.loads(failures)] == ["simulator_money_is_known"]
    # A second run books nothing twice.
    attempts = cluster.sql("SELECT count(*) FROM payments_attempt")
    status, output = manage(cluster, "recover_after_restore", "--since", moment)
    assert (status, cluster.sql("SELECT count(*) FROM payments_attempt")) == (1, attempts)
    assert "booked: " not in output

"""A real standby that falls behind."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from payments.health import facts, findings
from payments.quickstart.servers import postgres
from payments.quickstart.servers.places import Places, make_database_folder, make_running_folders, prepare
from payments.quickstart.servers.processes import wait_until
from tests.quickstart.conftest import remove_linked_folders

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

PATIENCE_SECONDS = 60


@pytest.fixture
def standby() -> Iterator[Places]:
    """Start a standby of the suite's server that applies nothing for an hour."""
    if not connection.settings_dict["HOST"].startswith("/"):
        pytest.skip("An outside server may refuse replicas.")
    with tempfile.TemporaryDirectory(prefix="kaha-test-") as folder:
        Path(folder).chmod(0o711)
        places = prepare(Path(folder) / "data")
        make_running_folders(places)
        make_database_folder(places)
        copy_cluster(places)
        delays = {"recovery_min_apply_delay": "1h", "hot_standby": "off", "cluster_name": "late"}
        process = postgres.start(places, {**delays, "max_connections": "300"})
        yield places
        postgres.stop_server(process)
        remove_linked_folders(places.data)


def copy_cluster(places: Places) -> None:
    there = connection.settings_dict
    program = postgres.reachable_programs(places) / "pg_basebackup"
    address = [f"--host={there['HOST']}", f"--username={there['USER']}", "--checkpoint=fast", "--write-recovery-conf"]
    environment = {**postgres.ENVIRONMENT, "PGPASSWORD": there["PASSWORD"]}
    subprocess.run(
        [program, *address, f"--pgdata={places.cluster}"], env=environment, check=True, **places.popen_options
    )


@pytest.mark.usefixtures("standby")
def test_a_replica_that_is_behind_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wait_until(lambda: [name for name, *_ in facts.replication().replicas] == ["late"], PATIENCE_SECONDS)
    monkeypatch.setattr(findings, "REPLICA_MAX_BYTES", 1024**2)
    assert not list(findings.of_replication(facts.replication()))
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
        cursor.execute("DROP TABLE filler")
    assert wait_until(lambda: bool(list(findings.of_replication(facts.replication()))), PATIENCE_SECONDS)
    [finding] = findings.of_replication(facts.replication())
    assert finding.what.startswith("The replica late is ")

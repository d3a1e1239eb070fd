"""A real standby that falls behind."""

from collections.abc import Iterator
from math import inf

import pytest
from django.db import connection

from payments.embedded.processes import wait_until
from payments.health import facts, findings
from tests.support.standbys import standby

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

PATIENCE_SECONDS = 60


@pytest.fixture
def late() -> Iterator[None]:
    """Start a standby of the suite's server that applies nothing for an hour."""
    with standby(recovery_min_apply_delay="1h", hot_standby="off", cluster_name="late"):
        yield


@pytest.mark.usefixtures("late")
def test_a_standby_that_is_behind_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests write to the same server at the same time, and each of their bytes counts.
    monkeypatch.setattr(findings, "STANDBY_MAX_SECONDS", inf)
    monkeypatch.setattr(findings, "STANDBY_MAX_BYTES", inf)
    assert wait_until(lambda: [name for name, *_ in facts.replication().standbys] == ["late"], PATIENCE_SECONDS)
    assert not list(findings.of_replication(facts.replication()))
    monkeypatch.setattr(findings, "STANDBY_MAX_BYTES", 16 * 1024**2)
    # It applies everything up to the first commit after it is consistent, so what one commit writes may be applied.
    assert wait_until(lambda: _write() or bool(list(findings.of_replication(facts.replication()))), PATIENCE_SECONDS)
    [finding] = findings.of_replication(facts.replication())
    assert finding.what.startswith("The standby late is ")


def _write() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 4000)")
        cursor.execute("DROP TABLE filler")

"""What says that the replica fails: `/ready`, the doctor and the metrics."""

import pytest
from pytest_django import Settings

from payments.db.replica.state import find_state
from payments.health import findings
from payments.health.findings import lines_of
from payments.health.readiness import replica_findings
from payments.metrics.counters import REPLICA_AGE, REPLICA_UNUSED
from payments.quickstart.servers.processes import wait_until
from tests.replica.conftest import PATIENCE_SECONDS, connected, forget_positions
from tests.replica.test_reads import forget_positions_after_a_write
from tests.standbys import Standby, standby
from tests.web.clients import ask, head
from tests.web.conftest import Serve, serve, serve_with_pid  # noqa: F401

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def warnings() -> list[str]:
    return lines_of(replica_findings(), stops_serving=False)


def found() -> list[str]:
    return [finding.what for finding in findings.of_read_replica(find_state())]


def test_without_a_replica_there_is_nothing_to_find(transactional_db: None) -> None:
    assert (found(), warnings(), REPLICA_UNUSED._value.get()) == ([], [], 0)


def test_nothing_is_found_of_one_that_is_level(replica: Standby) -> None:
    forget_positions()
    assert wait_until(lambda: warnings() == [] and REPLICA_AGE._value.get() > 0, PATIENCE_SECONDS)
    assert (found(), REPLICA_UNUSED._value.get()) == ([], 0)


def test_one_that_is_behind_is_found(replica: Standby, settings: Settings) -> None:
    settings.REPLICA_MAX_LAG_SECONDS = 2
    replica.pause()
    try:
        forget_positions_after_a_write()
        # As long as it may be level, nobody says that it is not.
        assert warnings() == []
        assert found() == ["The replica that kaha reads from is further behind than REPLICA_MAX_LAG_SECONDS."]
        assert warnings() == ["the replica is behind; the primary answers for it"]
        assert REPLICA_UNUSED._value.get() == 1
    finally:
        replica.resume()


def test_a_time_out_that_does_not_hold_there_is_found(replica: Standby) -> None:
    with connected(replica, IS_POOLED=True):
        forget_positions()
        assert any("statement_timeout is 0 ms" in line for line in warnings())
        assert any("statement_timeout is 0 ms" in what for what in found())


def test_a_web_server_is_ready_without_its_replica_and_says_so(
    transactional_db: None,
    serve: Serve,  # noqa: F811
) -> None:
    with standby() as own:
        port = serve(workers=1, REPLICA_DATABASE_URL=own.url)
        assert wait_until(lambda: ready(port) == (200, "healthy"), PATIENCE_SECONDS)
        own.stop()
        degraded = (200, "degraded: the replica does not answer; the primary answers for it")
        assert wait_until(lambda: ready(port) == degraded, PATIENCE_SECONDS)


def ready(port: int) -> tuple[int, str]:
    response, text = ask(port, head("GET /ready"))
    return response.status, text.decode()

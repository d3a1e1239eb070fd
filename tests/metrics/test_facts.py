"""What the metrics say of the service, without its processes."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.utils import OperationalError
from django.test.utils import CaptureQueriesContext
from prometheus_client import Metric
from prometheus_client.metrics import MetricWrapperBase

from payments import clock
from payments.domain.audit import hash_chain
from payments.health.metrics import collector
from payments.health.metrics.collector import ServiceCollector, read_all
from payments.health.table import MEASURED, Fact
from payments.metrics import counters
from payments.models import Attempt, MoneyCheck, WorkerProcess
from tests.audit.conftest import link_now
from tests.client import ANSWER_LOST, Api
from tests.guides.texts import text_of
from tests.health.conftest import service as service
from tests.metrics.conftest import value

pytestmark = pytest.mark.django_db

STATEMENTS_MAX = 80


def by_name(metrics: list[Metric]) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}


def test_a_service_in_order_has_no_metric_that_an_alert_waits_for(service: WorkerProcess) -> None:
    found = by_name(read_all())
    for name in ("kaha_postgresql_up", "kaha_redis_up", "kaha_workers", "kaha_audit_chain_intact"):
        assert value(found, name) == 1, name
    for name in ("kaha_workers_silent", "kaha_sweep_behind", "kaha_circuits_open", "kaha_money_check_failures"):
        assert value(found, name) == 0, name
    assert value(found, "kaha_fact_read") == len(MEASURED)


def test_a_failed_money_check_is_a_metric(service: WorkerProcess) -> None:
    failures = [{"name": "a", "sentence": "b", "model": "c", "count": 1, "examples": []}]
    MoneyCheck.objects.create(whole=True, finished_at=clock.now(), invariants=["a"], failures=failures)
    assert value(by_name(read_all()), "kaha_money_check_failures") == 1


def test_unknown_outcomes_are_counted_by_their_age(api: Api) -> None:
    for _ in range(2):
        api.charge_source(api.source(ANSWER_LOST))
    assert value(by_name(read_all()), "kaha_unknown_outcomes", age="below 15 minutes") == 2
    with clock.at(clock.now() + timedelta(hours=2)):
        found = by_name(read_all())
    assert value(found, "kaha_unknown_outcomes", age="1 hour to 1 day") == 2
    assert value(found, "kaha_unknown_outcomes") == Attempt.objects.filter(state="unknown").count() == 2
    assert 7200 <= value(found, "kaha_unknown_outcome_oldest_seconds") < 7300


def test_a_changed_entry_of_the_audit_log_breaks_its_chain(api: Api) -> None:
    link_now()
    assert hash_chain.newest_fault(200) == ""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE payments_auditentry DISABLE TRIGGER USER")
        cursor.execute("UPDATE payments_auditentry SET detail = 'other' WHERE number = 1")
    assert hash_chain.newest_fault(200) == "Entry 1 was changed."
    assert value(by_name(read_all()), "kaha_audit_chain_intact") == 0


def test_scrapes_within_a_quarter_of_a_minute_read_once(service: WorkerProcess) -> None:
    scraped = ServiceCollector()
    with CaptureQueriesContext(connection) as first:
        metrics = list(scraped.collect())
    assert 0 < len(first) < STATEMENTS_MAX
    with CaptureQueriesContext(connection) as second:
        assert list(scraped.collect()) == metrics
    assert len(second) == 0


def test_a_fact_that_is_not_read_in_time_is_missing_alone(
    service: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang() -> list[Metric]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', '10ms', true)")
            cursor.execute("SELECT pg_sleep(60)")
        return []

    slow = Fact("Webhooks", hang, metrics=list, name="webhooks")
    others = [fact for fact in MEASURED if fact.name != "webhooks"]
    monkeypatch.setattr(collector, "MEASURED", [slow, *others])
    found = by_name(read_all())
    assert value(found, "kaha_fact_read", fact="webhooks") == 0
    assert value(found, "kaha_fact_read") == len(others)


def test_after_the_time_limit_no_other_fact_is_read(service: WorkerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "TOTAL_SECONDS", 0.0)
    assert value(by_name(read_all()), "kaha_fact_read") == 0


def test_without_a_database_only_what_needs_none_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("PostgreSQL does not answer.")

    monkeypatch.setattr(connection, "cursor", refuse)
    found = by_name(read_all())
    assert value(found, "kaha_postgresql_up") == 0
    assert value(found, "kaha_fact_read") == value(found, "kaha_redis_up") == 1


def test_the_guide_to_observability_has_each_metric_and_no_other(service: WorkerProcess) -> None:
    kept = [collected for collected in vars(counters).values() if isinstance(collected, MetricWrapperBase)]
    counted = {metric.name for collected in kept for metric in collected.collect()}
    read = {metric.name for metric in read_all()}
    _, _, section = text_of("observability").partition("\n## Metrics\n")
    named = set(re.findall(r"`(kaha_[a-z_]+?)(?:_total)?`", section))
    assert named == counted | read

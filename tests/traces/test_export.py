"""The export never delays or ends what is traced, whatever the collector does."""

import logging
import os
import signal
from typing import Any

import pytest

from config.logs.setup import LineHandler, OncePerMinute
from payments.ids import new_id, public_id
from payments.traces import lifetime, spans
from payments.traces.exporter import QUEUE_LENGTH
from payments.traces.spans import Span
from tests.client import Api
from tests.traces.conftest import Sent
from tests.traces.listeners import Listener


def add_spans(count: int) -> None:
    trace = spans.trace_of(public_id("req", new_id()))
    assert trace
    for number in range(count):
        spans.record(Span(trace, f"span {number}", 1, 2))


@pytest.mark.long
@pytest.mark.django_db
def test_a_collector_that_hangs_takes_no_more_than_the_queue_and_delays_no_request(
    traced: Api, exporting: Sent, collector: Listener
) -> None:
    collector.is_open.clear()
    add_spans(4 * QUEUE_LENGTH)
    traced.charge()
    lifetime.stop()
    # It ended before the collector answered.
    assert not collector.is_open.is_set()
    assert spans.exporter() is None
    assert 0 < len(collector.spans) <= 2 * QUEUE_LENGTH


@pytest.mark.long
@pytest.mark.django_db
def test_a_collector_that_is_away_costs_no_request(settings, api: Api) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT, settings.TRACES_SAMPLE_RATE = "http://127.0.0.1:9", 1.0
    lifetime.start("web")
    assert api.charge()["status"] == "succeeded"
    lifetime.stop()


def test_a_failing_exporter_fails_no_request(exporting: Sent) -> None:
    trace = spans.trace_of(public_id("req", new_id()))
    assert trace
    broken: Any = object()
    spans.record(Span(trace, "good", 1, 2))
    spans.record(Span(trace, broken, broken, broken))
    assert [span.name for span in exporting()] == ["good"]


def test_a_collectors_faults_are_logged_once_a_minute(monkeypatch) -> None:
    once, now = OncePerMinute(), [100.0]
    monkeypatch.setattr("config.logs.setup.time.monotonic", lambda: now[0])
    record = logging.makeLogRecord({"msg": "Failed to export"})
    assert [once.filter(record) for _ in range(3)] == [True, False, False]
    now[0] += 59
    assert not once.filter(record)
    now[0] += 1
    assert once.filter(record)


def test_what_opentelemetry_logs_comes_through_that_filter_alone() -> None:
    logger = logging.getLogger("opentelemetry")
    # Beside pytest's own handlers.
    [handler] = [handler for handler in logger.handlers if isinstance(handler, LineHandler)]
    assert any(isinstance(each, OncePerMinute) for each in handler.filters)
    assert not logger.propagate


@pytest.mark.long
def test_a_forked_process_exports_its_own_spans(exporting: Sent, collector: Listener) -> None:
    child = os.fork()
    if not child:
        add_spans(3)
        lifetime.stop()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(collector.spans) == 3
    add_spans(2)
    assert len(exporting()) == 5


def test_the_headers_that_a_collector_asks_for_are_sent(settings, collector: Listener) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT, settings.TRACES_SAMPLE_RATE = collector.url, 1.0
    settings.OTEL_EXPORTER_OTLP_HEADERS = {"x-tenant": "kaha"}
    lifetime.start("worker")
    add_spans(1)
    lifetime.stop()
    assert collector.got[0].headers["x-tenant"] == "kaha"
    assert collector.spans[0].service == "kaha-worker"

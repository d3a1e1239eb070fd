"""One trace from a request to a real web server, through a real worker, to the merchant's receiver."""

import json
from pathlib import Path

import pytest

from payments.embedded.processes import wait_until
from tests.client import Api
from tests.metrics.conftest import PATIENCE_SECONDS, web
from tests.support.receiver import Receiver
from tests.support.worker import Worker
from tests.traces.listeners import Listener, SpanGot
from tests.web.clients import ask, head, length

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_a_charge_is_one_trace_from_its_request_to_the_receiver(api: Api, collector: Listener, tmp_path: Path) -> None:
    exported = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "TRACES_SAMPLE_RATE": "1"}
    worker = Worker(tmp_path)
    with Receiver() as receiver, web(tmp_path, NOTIFY_ALLOW_LOOPBACK="true", **exported) as server:
        worker.start(NOTIFY_ALLOW_LOOPBACK="true", **exported)
        source = api.source(redirect={"notify": receiver.url, "success": receiver.url, "fail": receiver.url})
        order = {"amount": 10_000, "currency": "PHP", "source": source, "description": "Halo-halo"}
        body = json.dumps(order).encode()
        response, _ = ask(server.port, head("POST /v2/charges/", length(body), key=api.key) + body)
        request_id = response.headers["Request-Id"]
        try:
            assert wait_until(lambda: len(attempts(collector, request_id)) == 2, PATIENCE_SECONDS), (
                worker.log.read_text()
            )
            assert wait_until(lambda: any(not span.parent for span in collector.spans_of(request_id)), PATIENCE_SECONDS)
            assert wait_until(lambda: len(attempts_of_sweeps(collector, request_id)) == 2, PATIENCE_SECONDS)
        finally:
            worker.kill()
    found = collector.spans_of(request_id)
    [root] = [span for span in found if not span.parent]
    assert {span.parent for span in found if span is not root} == {root.id}
    assert {(span.service, span.name) for span in found} == {
        ("kaha-web", "POST v2/charges/?$"),
        ("kaha-web", "statement"),
        ("kaha-web", "provider authorize"),
        ("kaha-worker", "webhook in outbox"),
        ("kaha-worker", "webhook attempt"),
    }
    sent = attempts(collector, request_id)
    assert {span.attributes["kaha.event"] for span in sent} == {*receiver.event_ids}
    assert {span.attributes["http.response.status_code"] for span in sent} == {200}
    # Neither where it is sent nor with what.
    assert f":{receiver.port}" not in repr(found)
    assert api.key not in repr(found)
    # The runs of the sweep that sent them are traces of their own, which name the request.
    sweeps = {span.trace: span.name for span in collector.spans if span.name.startswith("sweep ")}
    assert {sweeps[span.trace] for span in attempts_of_sweeps(collector, request_id)} == {"sweep deliver_webhooks"}
    lines = [json.loads(line) for line in (tmp_path / "web.log").read_text().splitlines() if line.startswith("{")]
    [line] = [line for line in lines if line.get("request_id") == request_id and line["logger"] == "kaha.request"]
    assert line["trace_id"] == root.trace


def attempts(collector: Listener, request_id: str) -> list[SpanGot]:
    return [span for span in collector.spans_of(request_id) if span.name == "webhook attempt"]


def attempts_of_sweeps(collector: Listener, request_id: str) -> list[SpanGot]:
    return [span for span in collector.spans if span.attributes.get("kaha.request") == request_id and span.parent]

"""The trace of a request: its route, its statements and its call of a provider, without anything that it says."""

import re

import pytest
from django.test.client import ClientHandler

from payments.ids import new_id, public_id
from payments.traces import spans
from payments.traces.statements import MOST_SPANS, StatementSpans, summary
from tests.client import ANSWER_LOST, Api
from tests.test_logging import Lines, lines  # noqa: F401  the log as it is written
from tests.traces.conftest import Sent
from tests.traces.listeners import Listener

pytestmark = pytest.mark.django_db

ORDER = {"amount": 10_000, "currency": "PHP", "description": "Halo-halo"}


def request_id_of(response) -> str:
    return response["Request-Id"]


def test_a_charge_is_one_trace_named_by_its_request(traced: Api, exporting: Sent, collector: Listener) -> None:
    source = traced.source()
    response = traced.post("/charges/", ORDER | {"source": source})
    exporting()
    found = collector.spans_of(request_id_of(response))
    [root] = [span for span in found if not span.parent]
    assert root.name == "POST v2/charges/?$"
    assert root.id == root.trace[16:]
    assert root.attributes["http.response.status_code"] == 201
    assert root.attributes["kaha.request"] == request_id_of(response)
    assert {span.parent for span in found if span is not root} == {root.id}
    assert all(root.started <= span.started <= span.ended <= root.ended for span in found)
    [call] = [span for span in found if span.name == "provider authorize"]
    assert call.attributes == {"kaha.provider": "simulator", "kaha.operation": "authorize", "kaha.outcome": "Approved"}


def test_statements_say_what_they_do_with_which_tables(traced: Api, exporting: Sent, collector: Listener) -> None:
    response = traced.post("/charges/", ORDER | {"source": traced.source()})
    exporting()
    statements = [span for span in collector.spans_of(request_id_of(response)) if span.name == "statement"]
    summaries = {span.attributes["db.query.summary"] for span in statements}
    assert any("INSERT payments_charge" in summary and "INSERT payments_attempt" in summary for summary in summaries)
    assert all(re.fullmatch(r"other|(?:[A-Z]+ [a-z_]+(?:, )?)+", summary) for summary in summaries)
    assert {key for span in statements for key in span.attributes} == {"db.system.name", "db.query.summary"}


def test_an_unknown_outcome_is_a_failed_call(traced: Api, exporting: Sent) -> None:
    traced.charge(ANSWER_LOST)
    [call] = [span for span in exporting() if span.name == "provider authorize"]
    assert call.failed
    assert call.attributes["kaha.outcome"] == "Unknown"


def test_a_route_is_named_and_never_a_path(traced: Api, exporting: Sent) -> None:
    traced.get("/customers/by_email/juan@shop.example", secret="anything")
    traced.get("/nowhere/juan@shop.example")
    traced.send("JUAN", "/nowhere", None, {})
    found = exporting()
    assert "juan" not in repr(found).lower()
    assert {"GET none", "other none"} <= {span.name for span in found}


def test_a_caller_chooses_neither_the_trace_nor_whether_it_is_sampled(traced: Api, exporting: Sent, settings) -> None:
    chosen = "0af7651916cd43dd8448eb211c80319c"
    spans.export_to(spans.exporter(), 0)
    traced.post("/sources/", {"type": "gcash"}, traceparent=f"00-{chosen}-b7ad6b7169203331-01")
    spans.export_to(spans.exporter(), 1)
    traced.post("/sources/", {"type": "gcash"}, traceparent=f"00-{chosen}-b7ad6b7169203331-00")
    found = exporting()
    assert len({span.trace for span in found}) == 1
    assert chosen not in repr(found)


def test_a_share_of_all_requests_is_sampled_the_same_one_everywhere(exporting: Sent) -> None:
    spans.export_to(spans.exporter(), 0.2)
    requests = [public_id("req", new_id()) for _ in range(5000)]
    sampled = [request for request in requests if spans.trace_of(request)]
    assert 800 < len(sampled) < 1200
    assert [request for request in requests if spans.trace_of(request)] == sampled


def test_a_sampled_request_has_its_trace_in_the_log_line(traced: Api, exporting: Sent, lines: Lines) -> None:  # noqa: F811
    first = traced.get("/ping")
    spans.export_to(spans.exporter(), 0)
    traced.get("/ping")
    sampled, other = lines.of("kaha.request")
    assert sampled["trace_id"] == request_id_of(first).removeprefix("req_")
    assert "trace_id" not in other


def test_a_request_has_a_bounded_number_of_spans(exporting: Sent) -> None:
    trace = spans.trace_of(public_id("req", new_id()))
    assert trace
    wrapper = StatementSpans(trace)
    assert [wrapper(lambda sql, *_: sql, "SELECT 1", [], False, {}) for _ in range(MOST_SPANS + 5)]
    assert wrapper.count == MOST_SPANS + 5
    assert len(exporting()) == MOST_SPANS


def test_a_statement_that_fails_is_marked_and_its_error_comes_through(exporting: Sent) -> None:
    trace = spans.trace_of(public_id("req", new_id()))
    assert trace

    def fail(*_: object) -> None:
        raise RuntimeError("no such row: 4242424242424242")

    with pytest.raises(RuntimeError):
        StatementSpans(trace)(fail, 'SELECT 1 FROM "payments_charge"', [], False, {})
    [span] = exporting()
    assert span.failed
    assert span.attributes["db.query.summary"] == "SELECT payments_charge"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 'FROM juan' FROM payments_charge WHERE id = 'x'", "SELECT payments_charge"),
        ("SELECT 1 FROM unnest(%s) FOR UPDATE SKIP LOCKED", "other"),
        ("INSERT INTO 4242424242424242", "other"),
        ("WITH w AS (DELETE FROM payments_source WHERE id = 'x')", "DELETE payments_source"),
    ],
)
def test_the_summary_of_a_statement_has_names_of_tables_only(sql: str, expected: str) -> None:
    assert summary(sql) == expected


@pytest.mark.parametrize("endpoint", ["", "http://127.0.0.1:4318"])
def test_requests_pass_the_middleware_only_where_traces_are_on(settings, endpoint: str) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint
    handler = ClientHandler()
    handler.load_middleware()
    step, names = handler._middleware_chain, []
    while step is not None:
        names.append(type(step).__name__)
        step = getattr(getattr(step, "__wrapped__", step), "get_response", None)
        step = getattr(step, "__wrapped__", step)
    assert "RequestLine" in names
    assert ("TracedRequests" in names) is bool(endpoint)

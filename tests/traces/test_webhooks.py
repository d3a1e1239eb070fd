"""The spans of webhooks, in the trace of the request that caused their event."""

import pytest

from payments import clock
from payments.ids import moment_of, new_id, public_id
from payments.traces import spans
from payments.webhooks.attempts import record_spans
from payments.webhooks.claims import Claimed
from payments.webhooks.transport.results import Answer, Failure, FailureKind
from tests.traces.conftest import Sent
from tests.traces.listeners import Listener

REQUEST = public_id("req", new_id())


def claimed(payload: bytes, tried: bool = False) -> Claimed:
    event, now = new_id(), clock.now()
    return Claimed(event, event, new_id(), False, None, "", "", payload, 0, now if tried else None, now)


def payload(request: str = f'{{"id":"{REQUEST}","idempotency_key":null}}', data: str = "{}") -> bytes:
    return f'{{"data":{data},"request":{request}}}'.encode()


def test_an_attempt_and_its_wait_in_the_outbox_belong_to_the_request(exporting: Sent, collector: Listener) -> None:
    webhook = claimed(payload())
    record_spans(webhook, Answer(200, b"ok", 5, None))
    exporting()
    wait, attempt = sorted(collector.spans_of(REQUEST), key=lambda span: span.ended)
    assert (wait.name, attempt.name) == ("webhook in outbox", "webhook attempt")
    written = moment_of(webhook.event_id).timestamp() * 1e9
    # An attempt of 5 ms that has just ended may begin before its event, and no wait ends before it begins.
    assert written - 6e6 <= wait.started <= written + 1e6
    assert wait.ended == attempt.started
    assert attempt.ended - attempt.started == 5_000_000
    assert attempt.parent == wait.parent == REQUEST[-16:]
    assert not attempt.failed


def test_the_wait_is_recorded_once(exporting: Sent) -> None:
    record_spans(claimed(payload(), tried=True), Failure(FailureKind.TIMEOUT, 5, "no answer"))
    [span] = exporting()
    assert span.failed
    assert span.attributes["error.type"] == "timeout"


def test_an_event_without_a_request_is_a_trace_of_its_own(exporting: Sent) -> None:
    webhook = claimed(payload('{"idempotency_key":null}'))
    record_spans(webhook, Answer(500, b"4242424242424242", 5, None))
    wait, attempt = sorted(exporting(), key=lambda span: span.ended)
    assert wait.trace == attempt.trace == webhook.event_id.hex
    assert (wait.parent, attempt.parent) == ("", wait.id)
    assert attempt.failed
    assert "42424242" not in repr(attempt.attributes)


def test_a_merchants_data_cannot_name_the_trace(exporting: Sent, collector: Listener) -> None:
    other = public_id("req", new_id())
    data = f'{{"object":{{"metadata":{{"request":{{"id":"{other}"}}}}}}}}'
    record_spans(claimed(payload(data=data)), Answer(200, b"ok", 5, None))
    exporting()
    assert collector.spans_of(REQUEST)
    assert not collector.spans_of(other)


@pytest.mark.long
@pytest.mark.parametrize("broken", [b"", b"[]", b"\xff", b'{"request":null}'])
def test_a_payload_that_cannot_be_read_fails_no_attempt(exporting: Sent, broken: bytes) -> None:
    record_spans(claimed(broken), Answer(200, b"ok", 5, None))
    assert exporting() == []


def test_an_attempt_of_a_request_that_is_not_sampled_is_not_recorded(exporting: Sent) -> None:
    spans.export_to(spans.exporter(), 0)
    record_spans(claimed(payload()), Answer(200, b"ok", 5, None))
    assert exporting() == []

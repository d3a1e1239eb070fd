"""A collector and a Sentry on loopback, which keep what they get."""

import gzip
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.http_server import Answered, Asked, answering
from tests.support.processes import running_module

TRACES, ERRORS = "/v1/traces", "/api/7/envelope/"


@dataclass(frozen=True)
class Got:
    """A request: `body` as it was before compression."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class SpanGot:
    """A span, with the name of the service that sent it."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    started: int
    ended: int
    failed: bool
    attributes: dict[str, Any]


@dataclass
class Listener:
    """Answers `status` to every request, and keeps it; while `is_open` is not set, it answers nothing."""

    url: str = ""
    status: int = 200
    got: list[Got] = field(default_factory=list)
    is_open: threading.Event = field(default_factory=threading.Event)

    @property
    def dsn(self) -> str:
        """Return the DSN by which Sentry's SDK sends here."""
        return self.url.replace("http://", "http://public@") + "/7"

    @property
    def spans(self) -> list[SpanGot]:
        return [span for got in self.got if got.path == TRACES for span in _spans(got.body)]

    def spans_of(self, request_id: str) -> list[SpanGot]:
        """Return the spans of the trace of a request."""
        return [span for span in self.spans if span.trace == request_id.partition("_")[2]]

    @property
    def errors(self) -> list[dict[str, Any]]:
        """Return the events that Sentry has, in their order."""
        return [event for got in self.got if got.path == ERRORS for event in _events(got.body)]


@contextmanager
def listener() -> Iterator[Listener]:
    """Run a listener until the block ends."""
    listening = Listener()
    listening.is_open.set()

    def take(asked: Asked) -> Answered:
        is_compressed = asked.headers.get("Content-Encoding") == "gzip"
        body = gzip.decompress(asked.body) if is_compressed else asked.body
        listening.got.append(Got(asked.path, dict(asked.headers.items()), body))
        listening.is_open.wait()
        return Answered(listening.status)

    with answering(take) as server:
        listening.url = server.address
        try:
            yield listening
        finally:
            listening.is_open.set()


@contextmanager
def listener_process() -> Iterator[str]:
    """Yield the URL of a listener that does not share our interpreter's lock."""
    with running_module("tests.traces.listeners") as program:
        yield program.output.strip()


def _spans(body: bytes) -> Iterator[SpanGot]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = next(each.value.string_value for each in resource.resource.attributes if each.key == "service.name")
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield SpanGot(
                    service=service,
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    started=span.start_time_unix_nano,
                    ended=span.end_time_unix_nano,
                    failed=span.status.code == span.status.STATUS_CODE_ERROR,
                    attributes={each.key: _value(each.value) for each in span.attributes},
                )


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


def _events(envelope: bytes) -> Iterator[dict[str, Any]]:
    """Yield the events of an envelope: lines of JSON, each item after a header with its type."""
    lines = envelope.splitlines()[1:]
    for header, item in zip(lines[::2], lines[1::2], strict=False):
        if json.loads(header)["type"] == "event":
            yield json.loads(item)


if __name__ == "__main__":
    with listener() as running:
        print(running.url, flush=True)
        sys.stdin.read()

"""The export of spans by OpenTelemetry's SDK, over HTTP, from a thread of its own.

Nothing waits for it: spans that do not fit into the queue are dropped, and so are those that a collector does not take
within some seconds.
"""

import socket
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from threading import Thread

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation import set_span_in_context

from payments.traces.spans import Side, Span, Trace

# In all 2,048 spans of about 1 KB; a batch is sent as soon as it is full, and after the pause in any case.
QUEUE_LENGTH = 2048
BATCH_LENGTH = 512
PAUSE_MILLISECONDS = 2000
EXPORT_SECONDS = 5
# What a process waits for at its end.
FLUSH_SECONDS = 2.0
PATH = "/v1/traces"
KINDS = {Side.SERVER: SpanKind.SERVER, Side.CLIENT: SpanKind.CLIENT, Side.INTERNAL: SpanKind.INTERNAL}

_root: ContextVar[Trace | None] = ContextVar("trace_root", default=None)


class RequestIds(RandomIdGenerator):
    """Makes the IDs of a root span from its request's ID, and random ones for all other spans."""

    def generate_trace_id(self) -> int:
        root = _root.get()
        return root.id if root else super().generate_trace_id()

    def generate_span_id(self) -> int:
        root = _root.get()
        return root.root_id if root else super().generate_span_id()


class OpenTelemetry:
    """Passes spans to the SDK, whose queue is bounded."""

    def __init__(self, endpoint: str, headers: Mapping[str, str], program: str) -> None:
        exporter = OTLPSpanExporter(
            endpoint + PATH, headers=headers, timeout=EXPORT_SECONDS, compression=Compression.Gzip
        )
        resource = Resource.create({"service.name": f"kaha-{program}", "host.name": socket.gethostname()})
        # Spans that come here are sampled already.
        self._provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, id_generator=RequestIds())
        self._provider.add_span_processor(
            BatchSpanProcessor(
                exporter,
                max_queue_size=QUEUE_LENGTH,
                schedule_delay_millis=PAUSE_MILLISECONDS,
                max_export_batch_size=BATCH_LENGTH,
            )
        )
        self._tracer = self._provider.get_tracer("kaha")

    def add(self, span: Span) -> None:
        # A request must not fail because of its trace.
        with suppress(Exception):
            self._add(span)

    def _add(self, span: Span) -> None:
        token = _root.set(span.trace if span.is_root else None)
        try:
            made = self._tracer.start_span(
                span.name,
                Context() if span.is_root else _below(span.trace),
                KINDS[span.kind],
                span.attributes,
                start_time=span.started,
            )
        finally:
            _root.reset(token)
        if span.failed:
            made.set_status(Status(StatusCode.ERROR))
        made.end(max(span.started, span.ended))

    def stop(self) -> None:
        """Send what is queued, and wait FLUSH_SECONDS for it at most."""
        sender = Thread(target=self._provider.shutdown, name="traces-flush", daemon=True)
        sender.start()
        sender.join(FLUSH_SECONDS)


def _below(trace: Trace) -> Context:
    """Return the SDK's context of what is below the root span, which may be another process's."""
    root = SpanContext(trace.id, trace.root_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(root), Context())

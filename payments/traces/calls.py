"""Spans of calls: questions to providers, and tries to send webhooks.

Each is in the trace of the request that it follows from, and within a sweep in that of the sweep too.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from payments import context
from payments.traces import sweeps
from payments.traces.spans import Side, Span, Trace, record, trace_of


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call from `started` to `ended`, in nanoseconds since 1970, for the request `request_id`, "" if for none."""

    name: str
    started: int
    ended: int
    attributes: Mapping[str, str | int | bool]
    failed: bool
    request_id: str = ""

    def within(self, trace: Trace, **more: str) -> Span:
        return Span(trace, self.name, self.started, self.ended, Side.CLIENT, {**self.attributes, **more}, self.failed)


def record_call(trace: Trace | None, call: TracedCall) -> None:
    """Record a call in `trace`, unless that is None, and in the trace of the sweep under way, if any is sampled."""
    if trace is not None:
        record(call.within(trace))
    if sweep := sweeps.under_way.get():
        request = {"kaha.request": call.request_id} if call.request_id else {}
        sweep.add_call(call.within(sweep.trace, **request))


def record_provider_call(
    request_id: str, provider: str, operation: str, outcome: object, seconds: float, failed: bool
) -> None:
    """Record a question to a provider that has just ended, in the trace of the request under way.

    Outside of a request, as where recovery asks again, in that of `request_id`, which asked first; "" if none did.
    """
    asking = context.request_id.get() or request_id
    trace = trace_of(asking)
    if trace is None and sweeps.under_way.get() is None:
        return
    ended = time.time_ns()
    attributes = {
        "kaha.provider": provider,
        "kaha.operation": operation,
        "kaha.outcome": type(outcome).__name__,
    }
    started = ended - round(seconds * 1e9)
    record_call(trace, TracedCall(f"provider {operation}", started, ended, attributes, failed, asking))

"""The trace of a run of a sweep: the run, its statements, its questions to providers and its tries to send webhooks.

It is exported only if the run did something: most of them find nothing to do, every second or two.
"""

import time
from contextvars import ContextVar

from payments import ids
from payments.traces import spans
from payments.traces.spans import Span, Trace
from payments.traces.statements import StatementSpans

# The most calls of one run that have a span in its trace; each also has one in the trace of its request.
MOST_CALLS = 50


class SweepSpans:
    """The spans of one run, kept until its end."""

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace = trace
        self._name, self._started = name, time.time_ns()
        self._kept: list[Span] = []
        self._call_count = 0
        self.statements = StatementSpans(trace, self._kept.append)

    def add_call(self, span: Span) -> None:
        """Keep the span of a call, which names this trace."""
        self._call_count += 1
        if self._call_count <= MOST_CALLS:
            self._kept.append(span)

    def end(self, result: object, error: str) -> None:
        """Record the run with all that is in it; nothing of one without a result, an error or a call."""
        if not (result or error or self._call_count):
            return
        facts: dict[str, str | int | bool] = {
            "kaha.sweep": self._name,
            "kaha.statements": self.statements.count,
            "kaha.calls": self._call_count,
        }
        if isinstance(result, int):
            facts["kaha.result"] = int(result)
        if error:
            facts["error.type"] = error
        name, ended = f"sweep {self._name}", time.time_ns()
        spans.record(Span(self.trace, name, self._started, ended, attributes=facts, failed=bool(error), is_root=True))
        for span in self._kept:
            spans.record(span)


# The run of a sweep in this thread, if it is sampled.
under_way: ContextVar[SweepSpans | None] = ContextVar("sweep_spans", default=None)


def begin(name: str) -> SweepSpans | None:
    """Return what collects the spans of a run that begins now; None if it is not sampled."""
    trace = spans.trace_of_uuid(ids.new_id()) if spans.exporter() else None
    return SweepSpans(trace, name) if trace else None

"""Errors to Sentry: each logged error is an event there, by the same redaction, and so is one that ends a command.

An event is made anew from the few members that are wanted, so that nothing else that the SDK may collect is sent: no
request, header, variable, breadcrumb or source line. A thread of the SDK sends it, from a queue that drops what does
not fit.
"""

import logging
import time
from collections import Counter
from collections.abc import Hashable
from threading import Lock
from typing import Any

import sentry_sdk
from sentry_sdk.integrations.atexit import AtexitIntegration
from sentry_sdk.integrations.excepthook import ExcepthookIntegration
from sentry_sdk.integrations.logging import EventHandler

from payments import context
from payments.ids import public_id
from payments.sensitive_data.redaction import redact, redact_all
from payments.traces import spans

FLUSH_SECONDS = 2
QUEUE_LENGTH = 100
# In a minute and process: of the same error, of one merchant, and of all.
MOST_OF_KIND = 5
MOST_OF_MERCHANT = 20
MOST = 60
MINUTE_SECONDS = 60
# The newest exceptions of a chain, and the innermost frames of each.
MOST_EXCEPTIONS = 10
MOST_FRAMES = 100

PASSED = ("event_id", "timestamp", "platform", "level", "logger", "server_name", "release", "environment", "sdk")
FRAME = ("filename", "abs_path", "module", "function", "lineno", "in_app")
MECHANISM = ("type", "handled", "exception_id", "parent_id", "source")
Json = dict[str, Any]


class Budget:
    """How many errors may still be sent in this minute; what is too much is counted."""

    def __init__(self) -> None:
        self._minute, self._sent, self._lost = 0, Counter[Hashable](), 0
        self._lock = Lock()

    def take(self, kind: Hashable, merchant: Hashable | None) -> bool:
        """Return whether one more may be sent."""
        limits: list[tuple[Hashable, int]] = [("", MOST), (("kind", kind), MOST_OF_KIND)]
        if merchant is not None:
            limits.append((("merchant", merchant), MOST_OF_MERCHANT))
        with self._lock:
            self._begin_minute()
            if any(self._sent[key] >= most for key, most in limits):
                self._lost += 1
                return False
            self._sent.update(key for key, _ in limits)
            return True

    def lost(self) -> int:
        """Return how many were not sent since the last call."""
        with self._lock:
            lost, self._lost = self._lost, 0
        return lost

    def _begin_minute(self) -> None:
        minute = int(time.monotonic() // MINUTE_SECONDS)
        if minute != self._minute:
            self._minute = minute
            self._sent.clear()


class SentryHandler(EventHandler):
    """Sends records of ERROR and above; no caller fails or waits because of one."""

    def __init__(self, dsn: str) -> None:
        super().__init__(logging.ERROR)
        self._budget = Budget()
        sentry_sdk.init(
            dsn,
            # The log has every error, so nothing of the SDK's that hooks into libraries is wanted.
            default_integrations=False,
            integrations=[AtexitIntegration(_wait_in_silence), ExcepthookIntegration(always_run=True)],
            ignore_errors=[KeyboardInterrupt],
            before_send=lambda event, hint: event_of(event, hint, self._budget),
            include_local_variables=False,
            include_source_context=False,
            max_request_body_size="never",
            max_breadcrumbs=0,
            auto_session_tracking=False,
            send_client_reports=False,
            spotlight=False,
            transport_queue_size=QUEUE_LENGTH,
            shutdown_timeout=FLUSH_SECONDS,
        )

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[0] if record.exc_info else None
        if self._budget.take((record.name, record.lineno, error), context.merchant.get()):
            super().emit(record)

    def flush(self) -> None:
        """Send what is queued, for FLUSH_SECONDS at most."""
        sentry_sdk.flush(FLUSH_SECONDS)


def _wait_in_silence(*_: object) -> None:
    """Replace the SDK's own message about events that are not sent yet."""


def event_of(event: Any, hint: Json, budget: Budget) -> Any:
    """Return the redacted event that is sent in place of the SDK's `event`."""
    made = {name: event[name] for name in PASSED if name in event}
    if entry := event.get("logentry"):
        made["logentry"] = _message_of(entry, hint.get("log_record"))
    if raised := event.get("exception"):
        made["exception"] = {"values": [_exception(each) for each in raised["values"][-MOST_EXCEPTIONS:]]}
    extra = {name: value for name, value in (event.get("extra") or {}).items() if name != "request"}
    if lost := budget.lost():
        extra["errors_not_sent_before"] = lost
    return made | {"extra": redact_all(extra), "tags": _tags()}


def _message_of(entry: Json, record: logging.LogRecord | None) -> Json:
    template = redact(str(entry.get("message", "")))
    return {"message": template, "formatted": redact(record.getMessage()) if record else template}


def _exception(raised: Json) -> Json:
    frames = (raised.get("stacktrace") or {}).get("frames") or []
    return {
        "type": redact(str(raised.get("type"))),
        "module": raised.get("module"),
        "value": redact(str(raised.get("value"))),
        "mechanism": _only(raised.get("mechanism") or {}, MECHANISM),
        "stacktrace": {"frames": [_only(frame, FRAME) for frame in frames[-MOST_FRAMES:]]},
    }


def _only(members: Json, names: tuple[str, ...]) -> Json:
    return {name: members[name] for name in names if name in members}


def _tags() -> dict[str, str]:
    """Return by what an error is found: the IDs that its log line has, too."""
    request_id, merchant = context.request_id.get(), context.merchant.get()
    tags = {"request_id": request_id} if request_id else {}
    if trace := spans.trace_of(request_id):
        tags["trace_id"] = trace.uuid.hex
    return tags | ({"merchant": public_id("mer", merchant)} if merchant else {})

"""Structured logs: one JSON object per line on stderr, redacted, with the request's ID on every line."""

import json
import logging
import math
import os
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from logging.config import dictConfig
from typing import Any

from config.logs.outputs import STANDARD_ERROR, Output, protect_standard_error
from payments import clock, context
from payments.sensitive_data.redaction import redact_all, suspicious
from payments.traces import spans, sweeps

# The log's own lines about itself.
LOG = "kaha.log"

MINUTE_SECONDS = 60
# Members of every record. A request in `extra` would be logged with its raw path, which may contain e-mail addresses.
NOT_EXTRA = frozenset(logging.makeLogRecord({}).__dict__) | {"asctime", "message", "request", "taskName"}
as_json = json.JSONEncoder(ensure_ascii=False, default=str).encode

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

logger = logging.getLogger("kaha.error")


class RedactedJson(logging.Formatter):
    """Formats records as JSON without card numbers, CVCs and keys, in arguments, extra members and tracebacks too."""

    def format(self, record: logging.LogRecord) -> str:
        members = {
            "time": clock.iso(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := context.request_id.get():
            members["request_id"] = request_id
            if spans.trace_of(request_id):
                members["trace_id"] = request_id.partition("_")[2]
        elif sweep := sweeps.under_way.get():
            members["trace_id"] = sweep.trace.uuid.hex
        if record.exc_info:
            members["exc_info"] = self.formatException(record.exc_info)
        if record.stack_info:
            members["stack_info"] = self.formatStack(record.stack_info)
        members |= {name: value for name, value in vars(record).items() if name not in NOT_EXTRA and name[:1] != "_"}
        try:
            line = as_json(members)
        except (TypeError, ValueError):
            return as_json(redact_all(members))
        return as_json(redact_all(members)) if suspicious(line) else line


class LineHandler(logging.Handler):
    """Writes lines to standard error; no caller fails or waits because of a line.

    A line that cannot be written is dropped. The next line that can be written says how many were.
    """

    def __init__(self, output: Output = STANDARD_ERROR) -> None:
        super().__init__()
        self.output = output
        self._lost = 0
        os.register_at_fork(after_in_child=self._forget_lost)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._report_lost()
            self.output.write(self._line(record))
        except Exception:  # noqa: BLE001  a fault of the log must not become one of the caller
            self._lost += 1

    def close(self) -> None:
        """Report dropped lines before the handler closes."""
        with suppress(Exception):
            self._report_lost()
        super().close()

    def _report_lost(self) -> None:
        if self._lost:
            fields = {"name": LOG, "levelname": "ERROR", "msg": "Log lines were lost.", "lost": self._lost}
            self.output.write(self._encoded(logging.makeLogRecord(fields)))
            self._lost = 0

    def _line(self, record: logging.LogRecord) -> bytes:
        """Return the record's line; for one that cannot be formatted, a line without its arguments."""
        try:
            return self._encoded(record)
        except Exception:  # noqa: BLE001  an argument's `__str__` may raise anything
            message, origin = "A log record could not be written.", f"{record.module}:{record.lineno}"
            fields = {"name": record.name, "levelname": "ERROR", "msg": message, "origin": origin}
            return self._encoded(logging.makeLogRecord(fields))

    def _encoded(self, record: logging.LogRecord) -> bytes:
        return f"{self.format(record)}\n".encode(errors="backslashreplace")

    def _forget_lost(self) -> None:
        """Reset the count in a forked process, because its parent reports it."""
        self._lost = 0


def log_what_ends_a_thread(what: threading.ExceptHookArgs) -> None:
    """Log the error that ended a thread, instead of Python's hook, which prints the traceback unredacted."""
    if what.exc_type is not SystemExit and what.exc_value:
        logger.error("An unexpected error ended a thread.", exc_info=what.exc_value)


def configure(configuration: dict[str, Any]) -> None:
    """Apply the LOGGING setting; Django calls it in each process."""
    protect_standard_error()
    dictConfig(configuration)


class OncePerMinute(logging.Filter):
    """Passes one record a minute, whatever it says."""

    def __init__(self) -> None:
        super().__init__()
        self._passed_at = -math.inf

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        passes = now - self._passed_at >= MINUTE_SECONDS
        if passes:
            self._passed_at = now
        return passes


def configuration(level: str, sentry_dsn: str = "") -> dict[str, Any]:
    """Return the LOGGING setting, which writes lines of `level` and above to standard error, and errors to Sentry."""
    sentry: dict[str, Any] = {"sentry": {"()": "config.logs.sentry.SentryHandler", "dsn": sentry_dsn}}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": RedactedJson}},
        "filters": {"once_per_minute": {"()": OncePerMinute}},
        "handlers": {
            "stderr": {"()": LineHandler, "formatter": "json"},
            "seldom": {"()": LineHandler, "formatter": "json", "filters": ["once_per_minute"]},
            **(sentry if sentry_dsn else {}),
        },
        "root": {"handlers": ["stderr", *(sentry if sentry_dsn else ())], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # It repeats `kaha.request` with the raw path; unexpected errors go to `kaha.error`.
            "django.request": {"handlers": [], "level": "CRITICAL", "propagate": False},
            # Replaces granian's own handlers, which block while nothing reads standard output.
            "_granian": {"handlers": [], "level": level, "propagate": True},
            "granian.access": {"handlers": [], "level": level, "propagate": True},
            # A collector that is away is no error of kaha, and would be one for each batch of spans.
            "opentelemetry": {"handlers": ["seldom"], "level": "WARNING", "propagate": False},
            # It has a line for the beginning and the end of each exchange.
            "mcp": {"level": "WARNING"},
            # `kaha.task` has a line for each task that did something; these have two for each.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
        },
    }

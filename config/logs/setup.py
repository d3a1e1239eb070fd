"""Structured logs: one JSON object per line on stderr, redacted, with the request's ID on every line."""

import logging
import os
import threading
from contextlib import suppress
from datetime import UTC, datetime
from logging.config import dictConfig
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from config.logs.outputs import STANDARD_ERROR, Output, protect_standard_error
from payments import clock, context
from payments.sensitive_data.redaction import redact_all, suspicious

# The log's own lines about itself.
LOG = "kaha.log"

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

logger = logging.getLogger("kaha.error")


class RedactedJson(JsonFormatter):
    """Formats records as JSON without card numbers, CVCs and keys, in arguments, extra members and tracebacks too."""

    def __init__(self) -> None:
        # A request in `extra` would be logged with its raw path, which may contain e-mail addresses.
        reserved = [*logging.makeLogRecord({}).__dict__, "asctime", "message", "request", "taskName"]
        super().__init__(reserved_attrs=reserved, json_ensure_ascii=False, json_default=str)

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        log_data.update(
            time=clock.iso(datetime.fromtimestamp(record.created, UTC)),
            level=record.levelname,
            logger=record.name,
            message=record.message,
        )
        if request_id := context.request_id.get():
            log_data["request_id"] = request_id
        super().add_fields(log_data, record, message_dict)

    def serialize_log_record(self, log_data: dict[str, Any]) -> str:
        try:
            line = super().serialize_log_record(log_data)
        except (TypeError, ValueError):
            return super().serialize_log_record(redact_all(log_data))
        return super().serialize_log_record(redact_all(log_data)) if suspicious(line) else line


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
            said = {"name": LOG, "levelname": "ERROR", "msg": "Log lines were lost.", "lost": self._lost}
            self.output.write(self._encoded(logging.makeLogRecord(said)))
            self._lost = 0

    def _line(self, record: logging.LogRecord) -> bytes:
        """Return the record's line; for one that cannot be formatted, a line without its arguments."""
        try:
            return self._encoded(record)
        except Exception:  # noqa: BLE001  an argument's `__str__` may raise anything
            message, origin = "A log record could not be written.", f"{record.module}:{record.lineno}"
            said = {"name": record.name, "levelname": "ERROR", "msg": message, "origin": origin}
            return self._encoded(logging.makeLogRecord(said))

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


def configuration(level: str) -> dict[str, Any]:
    """Return the LOGGING setting, which writes lines of `level` and above to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": RedactedJson}},
        "handlers": {"stderr": {"()": LineHandler, "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # It repeats `kaha.request` with the raw path; unexpected errors go to `kaha.error`.
            "django.request": {"handlers": [], "level": "CRITICAL", "propagate": False},
            # Replaces granian's own handlers, which block while nothing reads standard output.
            "_granian": {"handlers": [], "level": level, "propagate": True},
            "granian.access": {"handlers": [], "level": level, "propagate": True},
            # `kaha.task` has a line for each task that did something; these have two for each.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
        },
    }

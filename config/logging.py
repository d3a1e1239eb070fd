"""Structured logs: one JSON object per line on stderr, redacted, with the request's ID on every line."""

import logging
import threading
from datetime import UTC, datetime
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from payments import clock, context
from payments.redaction import redact_all, suspicious

logger = logging.getLogger("kaha.error")


class RedactedJson(JsonFormatter):
    """Formats records as JSON without card numbers, CVCs and keys, wherever in the record they are.

    It works on the finished record, so that arguments, extra members and tracebacks pass it as well.
    """

    def __init__(self) -> None:
        # A request given as `extra` would be shown with its raw path, in which e-mail addresses may stand.
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


class LineHandler(logging.StreamHandler[Any]):
    """Writes lines to standard error; a record that cannot be formatted shows none of its arguments."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the library's name
        """In place of the library's, which prints the arguments as they are."""
        said = {
            "name": record.name,
            "levelname": "ERROR",
            "msg": "A log record could not be written.",
            "origin": f"{record.module}:{record.lineno}",
        }
        self.stream.write(self.format(logging.makeLogRecord(said)) + self.terminator)


def log_what_ends_a_thread(what: threading.ExceptHookArgs) -> None:
    """In place of Python's own hook, which prints the traceback as it is."""
    if what.exc_type is not SystemExit and what.exc_value:
        logger.error("An unexpected error ended a thread.", exc_info=what.exc_value)


def configuration() -> dict[str, Any]:
    """The LOGGING setting: everything that is worth a line, on standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": RedactedJson}},
        "handlers": {"stderr": {"()": LineHandler, "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            "django": {"handlers": [], "level": "INFO"},
            "django.server": {"handlers": [], "level": "INFO", "propagate": True},
            # Repeats with the raw path what `kaha.request` says; unexpected errors go to `kaha.error`.
            "django.request": {"handlers": [], "level": "CRITICAL", "propagate": False},
        },
    }

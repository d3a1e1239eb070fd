"""The health checks, `/ping` and `/ready`, which are answered at once, without a thread or a query."""

import re
from http import HTTPStatus

from payments import ids
from payments.health.worker_monitor import WorkerMonitor
from payments.web.database_monitor import DatabaseMonitor
from payments.web.environ import Environ
from payments.web.responses import Answer, encoded
from payments.web.threads import Threads

PATH = re.compile(r"/(ping|ready)/?")
RETRY_SECONDS = "1"


class Health:
    """The health of one process: its database answers, and for `/ready` a thread is free."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._database = DatabaseMonitor()
        self._database.start()
        self._workers = WorkerMonitor()
        self._workers.start()

    def answer_to(self, environ: Environ) -> Answer | None:
        """Return the answer to a health check, None for any other request."""
        match = PATH.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] in ("GET", "HEAD") else None
        if match is None:
            return None
        if not self._database.answers:
            return _text(HTTPStatus.SERVICE_UNAVAILABLE, "PostgreSQL does not answer")
        if match[1] == "ready" and self._threads.are_taken:
            return _text(HTTPStatus.SERVICE_UNAVAILABLE, "every thread is taken")
        if match[1] == "ready" and self._workers.warning:
            # Without workers, charges are taken all the same.
            return _text(HTTPStatus.OK, f"degraded: {self._workers.warning}")
        return _text(HTTPStatus.OK, "healthy")


def _text(status: HTTPStatus, text: str) -> Answer:
    headers = {
        "Content-Type": "text/plain; charset=utf-8",
        "Cache-Control": "no-store",
        "Request-Id": ids.public_id("req", ids.new_id()),
    }
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = RETRY_SECONDS
    return Answer(status, encoded(headers.items()), text.encode())

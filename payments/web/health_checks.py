"""The health checks, `/ping` and `/ready`, which are answered at once, without a thread or a query."""

import re
from collections.abc import Sequence
from http import HTTPStatus

from payments import ids
from payments.health.readiness import Readiness
from payments.health.worker_monitor import WorkerMonitor
from payments.web.environ import Environ
from payments.web.responses import Answer, encoded
from payments.web.threads import Threads

PATH = re.compile(r"/(ping|ready)/?")
RETRY_SECONDS = "1"


class Health:
    """The health of one process: `/ping` says that it is alive, `/ready` whether it can serve."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._readiness = Readiness()
        self._readiness.start()
        self._workers = WorkerMonitor()
        self._workers.start()
        self.is_stopping = False

    def answer_to(self, environ: Environ) -> Answer | None:
        """Return the answer to a health check, None for any other request."""
        match = PATH.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] in ("GET", "HEAD") else None
        if match is None:
            return None
        if match[1] == "ping":
            return _text(HTTPStatus.OK, ["healthy"])
        if faults := self._faults():
            return _text(HTTPStatus.SERVICE_UNAVAILABLE, faults)
        # Without workers, charges are taken all the same.
        warnings = [warning for warning in [*self._readiness.warnings, self._workers.warning] if warning]
        return _text(HTTPStatus.OK, [f"degraded: {warning}" for warning in warnings] or ["healthy"])

    def _faults(self) -> list[str]:
        if self.is_stopping:
            return ["the server is stopping"]
        return [*self._readiness.faults, *(["every thread is taken"] if self._threads.are_taken else [])]


def _text(status: HTTPStatus, lines: Sequence[str]) -> Answer:
    headers = {
        "Content-Type": "text/plain; charset=utf-8",
        "Cache-Control": "no-store",
        "Request-Id": ids.public_id("req", ids.new_id()),
    }
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = RETRY_SECONDS
    return Answer(status, encoded(headers.items()), "\n".join(lines).encode())

"""The ASGI application that granian runs, which wraps a WSGI application."""

import asyncio
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from wsgiref.types import WSGIApplication

from django.conf import settings
from django.db import connection

from payments import VERSION, ids
from payments.api.responses.errors import as_api_error
from payments.concurrency.long_bodies import BodyLimits
from payments.health.readiness import Readiness
from payments.health.worker_monitor import WorkerMonitor
from payments.metrics import counters, samples
from payments.metrics.counters import count_request
from payments.traces import lifetime as traces
from payments.web import stored_requests
from payments.web.bodies import REST_COMES, Bodies
from payments.web.environ import Environ, Scope, environ_of, put_body
from payments.web.refusals import RequestRefused, answer_to
from payments.web.responses import Answer, Receive, Send, encoded
from payments.web.threads import Threads

# Threads that check keys of requests whose bodies are late.
LOOKUPS = 4
# A connection takes a file descriptor, and granian accepts 4,096 connections in each process.
MOST_FILES = 16_384
# For so long a request's thread keeps the interpreter while the event loop waits for it; Python's default is 5 ms.
SWITCH_SECONDS = 0.0005

# The health checks, which are answered at once, without a thread or a query.
HEALTH_PATH = re.compile(r"/(ping|ready)/?")
RETRY_SECONDS = "1"
LOOPBACK = ("127.0.0.1", "::1")
# What proxies add to a request that they pass on.
PASSED_ON = {"HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_VIA"}


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
        match = HEALTH_PATH.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] in ("GET", "HEAD") else None
        if match is None:
            return None
        if match[1] == "ping":
            return _text(HTTPStatus.OK, ["healthy"])
        version = {"Kaha-Version": VERSION} if _is_of_this_host(environ) else {}
        if faults := self._faults():
            return _text(HTTPStatus.SERVICE_UNAVAILABLE, faults, version)
        # Without workers, charges are taken all the same.
        warnings = [warning for warning in [*self._readiness.warnings, self._workers.warning] if warning]
        return _text(HTTPStatus.OK, [f"degraded: {warning}" for warning in warnings] or ["healthy"], version)

    def _faults(self) -> list[str]:
        if self.is_stopping:
            return ["the server is stopping"]
        return [*self._readiness.faults, *(["every thread is taken"] if self._threads.are_taken else [])]


def _is_of_this_host(environ: Environ) -> bool:
    """Return whether a program of this host asks for itself, and not for somebody else as a proxy does."""
    return environ["REMOTE_ADDR"] in LOOPBACK and PASSED_ON.isdisjoint(environ)


def _text(status: HTTPStatus, lines: Sequence[str], more: Mapping[str, str] | None = None) -> Answer:
    headers = {
        "Content-Type": "text/plain; charset=utf-8",
        "Cache-Control": "no-store",
        "Request-Id": ids.public_id("req", ids.new_id()),
        **(more or {}),
    }
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = RETRY_SECONDS
    return Answer(status, encoded(headers.items()), "\n".join(lines).encode())


class Front:
    """Answers health checks at once, and passes whole requests to the threads.

    Before a thread works on it, a request occupies only its connection, and its body for a limited time.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        environ = environ_of(scope)
        answer = self._health.answer_to(environ) or await self._answer(environ, receive, send)
        if answer:
            if environ.get(REST_COMES):
                await self._bodies.drop_rest(environ, receive)
            await answer.send(send)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Start and stop with the process, because this may have been loaded before a fork."""
        await receive()
        _allow_files()
        sys.setswitchinterval(SWITCH_SECONDS)
        limits = BodyLimits(settings.DATA_UPLOAD_MAX_MEMORY_SIZE, settings.REQUEST_BODY_SECONDS)
        self._bodies = Bodies(limits, ThreadPoolExecutor(LOOKUPS, thread_name_prefix="key"))
        self._threads = Threads(self._application, settings.WEB_THREADS, settings.DATABASES["default"]["CONNECTIONS"])
        # A process takes no request before it knows whether its database answers.
        self._health = await asyncio.to_thread(Health, self._threads)
        stored_requests.start()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._drain)
        samples.start(
            {
                **samples.of_connections(connection),
                counters.THREADS: lambda: settings.WEB_THREADS,
                counters.THREADS_IN_USE: lambda: self._threads.in_use,
                counters.REQUESTS_WAITING: lambda: self._threads.waiting,
            }
        )
        traces.start("web")
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._threads.waits.end()
        await asyncio.to_thread(stored_requests.flush)
        await asyncio.to_thread(traces.stop)
        await send({"type": "lifespan.shutdown.complete"})

    def _drain(self) -> None:
        """Say by `/ready` that no more requests should come, and stop taking them WEB_DRAIN_SECONDS later.

        Then those that wait for events are answered, and granian's own handler, which SIGINT has too, has all others
        under way end.
        """
        if not self._health.is_stopping:
            self._health.is_stopping = True
            asyncio.get_running_loop().call_later(settings.WEB_DRAIN_SECONDS, self._stop)

    def _stop(self) -> None:
        self._threads.waits.end()
        os.kill(os.getpid(), signal.SIGINT)

    async def _answer(self, environ: Environ, receive: Receive, send: Send) -> Answer | None:
        began = time.perf_counter()
        try:
            body = await self._bodies.read(environ, receive)
            if body is not None:
                put_body(environ, body)
            return await self._threads.answer(environ, receive, send)
        except RequestRefused as refused:
            error = refused.error
        except Exception as unexpected:  # noqa: BLE001 # Django handles errors of views; this is for all others
            error = as_api_error(unexpected)
        refusal = answer_to(environ, error)
        count_request(None, environ["REQUEST_METHOD"], refusal.status_code, time.perf_counter() - began)
        return Answer(refusal.status_code, encoded(refusal.items()), refusal.content)


def _allow_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

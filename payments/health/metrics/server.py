"""The server that Prometheus scrapes, on an address of its own that the public port never shows."""

import os
import re
from pathlib import Path
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import REGISTRY, CollectorRegistry, make_wsgi_app
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from payments.health.metrics.collector import ServiceCollector
from payments.metrics.folder import VARIABLE

# How long a scraper may be silent; scrapes are answered one after the other.
SILENCE_SECONDS = 5
LIVE_FILE = re.compile(r"gauge_live[a-z]*_(\d+)\.db")


class LiveProcesses(MultiProcessCollector):
    """The counts of all processes of a web server, without the gauges of those that have ended."""

    def __init__(self, folder: str) -> None:
        super().__init__(None, folder)
        self._folder = folder

    def collect(self) -> Any:
        found = [LIVE_FILE.fullmatch(path.name) for path in Path(self._folder).iterdir()]
        for pid in {int(match[1]) for match in found if match}:
            if not Path(f"/proc/{pid}").exists():
                mark_process_dead(pid, self._folder)
        return super().collect()


class Handler(WSGIRequestHandler):
    """Answers a scrape, and logs nothing."""

    timeout = SILENCE_SECONDS

    def log_message(self, *_: Any) -> None:
        pass


def serve(address: tuple[str, int]) -> None:
    """Answer scrapes at `address` until the process ends. Raise OSError where nothing can listen there."""
    registry = CollectorRegistry()
    for collector in (_counts(), ServiceCollector()):
        registry.register(collector)
    server = make_server(*address, make_wsgi_app(registry), handler_class=Handler)
    # A web server's processes outlive the one that started them by what they have under way.
    os.register_at_fork(after_in_child=server.socket.close)
    Thread(target=server.serve_forever, name="metrics", daemon=True).start()


def _counts() -> Collector:
    folder = os.environ.get(VARIABLE)
    return LiveProcesses(folder) if folder else REGISTRY

"""Merchants' webhook receivers, correct and faulty, as threaded servers on loopback."""

import hmac
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

Judge = Callable[[Mapping[str, str], bytes], int]


@dataclass
class Receiver:
    """A receiver that answers as `judge` says and records the events."""

    judge: Judge
    url: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)

    def take(self, headers: Mapping[str, str], body: bytes) -> int:
        self.events.append(json.loads(body))
        return self.judge(headers, body)


@contextmanager
def receiving(judge: Judge) -> Iterator[Receiver]:
    """Run a receiver while the block runs."""
    receiver = Receiver(judge)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(receiver.take(dict(self.headers), body))
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"said\x1b")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/kaha"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def verifies(secret: str) -> Judge:
    """Return a judge that verifies as Standard Webhooks say."""

    def judge(headers: Mapping[str, str], body: bytes) -> int:
        try:
            Webhook(secret).verify(body, dict(headers))
        except WebhookVerificationError:
            return 401
        return 200

    return judge


def verifies_plainly(secret: str) -> Judge:
    """Return a judge that verifies the plain signature and its timestamp."""

    def judge(headers: Mapping[str, str], body: bytes) -> int:
        wanted = f"v1={hmac.new(secret.encode(), body, 'sha256').hexdigest()}"
        fresh = abs(time.time() - int(headers["X-Kaha-Timestamp"])) < 300
        return 200 if fresh and hmac.compare_digest(headers["X-Kaha-Signature"], wanted) else 400

    return judge

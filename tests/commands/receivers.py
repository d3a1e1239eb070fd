"""Merchants' webhook receivers, correct and faulty, as servers of answers."""

import hmac
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from tests.support.http_server import Answered, Asked, answering

Judge = Callable[[Mapping[str, str], bytes], int]


@dataclass
class Receiver:
    """A receiver, and the events that it got."""

    url: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def receiving(judge: Judge) -> Iterator[Receiver]:
    """Run a receiver that answers as `judge` says while the block runs."""
    receiver = Receiver()

    def take(asked: Asked) -> Answered:
        receiver.events.append(json.loads(asked.body))
        return Answered(judge(dict(asked.headers), asked.body), b"said\x1b")

    with answering(take) as server:
        receiver.url = f"{server.address}/kaha"
        yield receiver


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

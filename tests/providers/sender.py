"""How a connector before a fake sends: in haste where it is set to, and something may happen before the answer."""

from collections.abc import Callable, Mapping

from payments.providers import http
from payments.providers.http import Connections, Reply

# How long an answer is waited for in haste.
HASTE_SECONDS = 0.2


class Sender:
    """Waits for answers as long as anybody does, unless it is `in_haste`: then by `hasty`, for one question.

    `meanwhile` is done once, after the provider had the next question and before its answer is read. Lookups are
    left out of both.
    """

    def __init__(self, hasty: Connections) -> None:
        self._hasty = hasty
        self.in_haste = False
        self.meanwhile: Callable[[], object] | None = None

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
        """As `payments.providers.http.send`."""
        # Many fakes come and go, and no connection to any of them is to stay behind.
        alone = {**headers, "Connection": "close"}
        if method == "GET":
            return http.send(method, url, alone, body)
        by, self.in_haste = self._hasty.send if self.in_haste else http.send, False
        act, self.meanwhile = self.meanwhile, None
        try:
            return by(method, url, alone, body)
        finally:
            if act:
                act()

"""Who sends a request, before it has been authenticated."""

from collections.abc import Hashable
from threading import Lock

from cachetools import LRUCache

from payments.api.authentication import MERCHANT_OF_REQUEST, caller_of
from payments.web.environ import Environ
from payments.web.requests import request_of

MOST_KEYS = 10_000


class Callers:
    """Names the merchant of a request whose secret or restricted key has worked in this process; else the address."""

    def __init__(self) -> None:
        self._merchants: LRUCache[str, Hashable] = LRUCache(MOST_KEYS)
        self._lock = Lock()

    def caller_of(self, environ: Environ) -> Hashable:
        """Return who is to wait in which line."""
        with self._lock:
            merchant = self._merchants.get(_credentials(environ))
        return merchant or caller_of(request_of(environ))

    def learn(self, environ: Environ) -> None:
        """Remember the merchant of a request that was answered."""
        if merchant := environ.get(MERCHANT_OF_REQUEST):
            with self._lock:
                self._merchants[_credentials(environ)] = merchant


def _credentials(environ: Environ) -> str:
    return environ.get("HTTP_AUTHORIZATION", "")

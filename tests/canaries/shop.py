"""A merchant's program and its payers' browsers over HTTP; it keeps every answer."""

import json
from types import TracebackType
from typing import Any, Self

import httpx2

from tests.canaries.marks import SOURCE_CVC

TIMEOUT_SECONDS = 60
# A server that has refused a body unread may close the connection under the next request.
NEW_CONNECTIONS = httpx2.Limits(max_keepalive_connections=0)
CARD = {"name": "Juan dela Cruz", "exp_month": "12", "exp_year": "2039", "cvc": SOURCE_CVC}


class Shop:
    """A client of the API at `url` with the secret test `key`, whose sources send their events to `notify`."""

    def __init__(self, url: str, key: str, notify: str) -> None:
        self.url, self.notify = url, notify
        self.answers: list[tuple[str, bytes]] = []
        self._client = httpx2.Client(base_url=url, auth=(key, ""), timeout=TIMEOUT_SECONDS, limits=NEW_CONNECTIONS)
        self._browser = httpx2.Client(timeout=TIMEOUT_SECONDS, limits=NEW_CONNECTIONS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()
        self._browser.close()

    def ask(self, method: str, path: str, **request: Any) -> httpx2.Response:
        """Send a request to the API, with httpx2's arguments."""
        return self._kept(self._client.request(method, f"/v2{path}", **request))

    def post(self, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        return self.ask("POST", path, json=body or {}, headers=headers)

    def made(self, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        """Return the object of a POST's answer. Raises AssertionError for a refusal."""
        response = self.post(path, body, **headers)
        assert response.is_success, (path, body, response.text)
        return dict(response.json())

    def browse(self, method: str, url: str, **request: Any) -> httpx2.Response:
        """Send a request of a payer's browser."""
        return self._kept(self._browser.request(method, url, **request))

    def source(self, **members: Any) -> str:
        """Create a source; return its ID."""
        redirect = {"success": "https://shop.example/yes", "fail": "https://shop.example/no", "notify": self.notify}
        return str(self.made("/sources/", {"redirect": redirect, **members})["id"])

    def card(self, number: str, **members: Any) -> str:
        """Create a card source; return its ID."""
        return self.source(type="card", card={**CARD, "number": number}, **members)

    def charge(self, source: str, **members: Any) -> dict[str, Any]:
        """Create a charge."""
        return self.made("/charges/", {"amount": 10_000, "source": source, "description": "Halo-halo", **members})

    def act(self, charge: dict[str, Any], verb: str, **members: Any) -> dict[str, Any]:
        """Do `capture`, `void`, `refund` or `verify`; return the charge."""
        return self.made(f"/charges/{charge['id']}/{verb}", members)

    def _kept(self, response: httpx2.Response) -> httpx2.Response:
        head = json.dumps([response.status_code, *response.headers.multi_items()]).encode()
        asked = f"{response.request.method} {response.request.url.path}"
        self.answers.append((asked, head + response.content))
        return response

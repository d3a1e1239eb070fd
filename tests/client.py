"""The API from the outside, for tests: requests in, status and JSON out."""

import base64
import json
import time
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.test.client import ClientHandler

from payments.concurrency.connections import release_connection

if TYPE_CHECKING:
    # Requests are made before Django's models are there, too.
    from django.contrib.auth.models import User

APPROVED = "4000000000003055"
CHALLENGED = "4242424242424242"
REFUNDS_FAIL = "4000000000005126"
REFUNDS_WAIT = "4000000000007726"
ANSWER_LOST = "4000000000005100"
NEVER_ARRIVES = "4000000000005118"
DECLINED = "4000000000000002"
STOLEN = "4000000000009979"
# Shared, because each new one would look through all static files again.
HANDLER = ClientHandler(enforce_csrf_checks=False)
POLL_SECONDS = 0.2
CARD_FIELDS = {"name": "Juan dela Cruz", "exp_month": "12", "exp_year": "2039", "cvc": "123"}


class Api:
    """One key's view of the service. Paths are below `/v2`."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.client = Client(raise_request_exception=False)
        self.client.handler = HANDLER

    def get(self, path: str, **query: Any) -> HttpResponse:
        return _waited(self.client.get(f"/v2{path}", query, headers=self.headers()))

    def post(self, path: str, body: Any = None, key: str | None = None, **headers: str) -> HttpResponse:
        """POST `body` as JSON, under the idempotency key `key` if given."""
        extra = {"Idempotency-Key": key} if key else {}
        return self.send("POST", path, body, extra | headers)

    def put(self, path: str, body: Any) -> HttpResponse:
        return self.send("PUT", path, body, {})

    def delete(self, path: str) -> HttpResponse:
        return self.send("DELETE", path, None, {})

    def send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> HttpResponse:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        return self.client.generic(
            method, f"/v2{path}", raw, content_type="application/json", headers=self.headers() | headers
        )

    def headers(self) -> dict[str, str]:
        return {"Authorization": "Basic " + base64.b64encode(f"{self.key}:".encode()).decode()}

    def source(self, number: str = APPROVED, **members: Any) -> str:
        """Return a new card source's ID."""
        body = {"type": "card", "card": {**CARD_FIELDS, "number": number}, **members}
        return made(self.post("/sources/", body))["id"]

    def wallet(self, kind: str = "gcash", **members: Any) -> str:
        """Return a new source of another type."""
        return made(self.post("/sources/", {"type": kind, **members}))["id"]

    def charge(self, number: str = APPROVED, amount: int = 10_000, **members: Any) -> dict[str, Any]:
        """Return a new charge on a new card."""
        return self.charge_source(self.source(number), amount, **members)

    def held(self, amount: int = 10_000, number: str = APPROVED) -> dict[str, Any]:
        """Return a held charge."""
        return self.charge(number, amount, capture=False)

    def charge_source(self, source: str, amount: int = 10_000, **members: Any) -> dict[str, Any]:
        body = {"amount": amount, "currency": "PHP", "source": source, "description": "Halo-halo", **members}
        return made(self.post("/charges/", body))

    def read(self, charge: dict[str, Any]) -> dict[str, Any]:
        """Return the charge as it is now."""
        return made(self.get(f"/charges/{charge['id']}"))


class Browser(Client):
    """A browser whose forms name the merchant whose site is open, as every form of the merchants' site does."""

    def post(self, path: str, data: Any = None, *args: Any, **named: Any) -> HttpResponse:
        if path.startswith("/merchant/") and isinstance(data, dict | None):
            data = self._owner() | (data or {})
        return super().post(path, data, *args, **named)

    def _owner(self) -> dict[str, str]:
        # They read models, which are loaded after this.
        from django.contrib.auth import get_user

        from payments.merchant_site import form_owner, membership

        request = HttpRequest()
        request.session = self.session
        request.user = get_user(request)
        opened = membership.open_membership(request) if request.user.is_authenticated else None
        return {form_owner.NAME: opened.merchant_id.hex} if opened else {}


def signed_in(user: "User") -> Client:
    """Return the browser of an operator who is signed in."""
    browser = Browser()
    browser.force_login(user)
    return browser


def _waited(response: HttpResponse) -> HttpResponse:
    """Wait for a page as the web server does where the answer says so, but in this thread."""
    wait = response.wsgi_request.META.get("kaha.wait")
    if wait is None:
        return response
    try:
        while not (content := wait.find()) and time.monotonic() < wait.give_up_at:
            release_connection()
            time.sleep(POLL_SECONDS)
    finally:
        wait.end()
    response.content = content or response.content
    return response


def made(response: HttpResponse) -> dict[str, Any]:
    """Return the object in a 2xx answer."""
    assert 200 <= response.status_code < 300, response.content
    return json.loads(response.content)


def without_request_id(response: HttpResponse) -> str:
    """Return the text of a refusal less the request's ID, in which any few digits can occur."""
    return response.content.decode().replace(error_of(response)["request_id"], "")


def error_of(response: HttpResponse) -> dict[str, Any]:
    """Return the error in a refusal."""
    assert response.status_code >= 400, response.content
    return json.loads(response.content)["error"]

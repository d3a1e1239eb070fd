"""Requests to kaha's API: each is sent again where that is safe and may help, and ends in an answer or a Failure."""

import re
import secrets
import time
from typing import Any

import httpx2

from kaha_cli import VERSION
from kaha_cli.environment import faults_named, has_proxy, proxies
from kaha_cli.failures import ApiRefused, Failure, Misuse, Unreachable, printable
from kaha_cli.profiles import Identity, is_loopback

# Before the second, third and fourth attempt.
PAUSES_SECONDS = (0.5, 1.5, 3.0)
# If kaha asks for a longer wait, the refusal is shown instead.
LONGEST_WAIT_SECONDS = 60.0
CONNECT_SECONDS = 5.0
# Longer than kaha waits for a provider.
ANSWER_SECONDS = 60.0
# Of a message that needs no answer.
ACCEPTED = 202
# The code of JSON-RPC's errors that have kaha's inside.
JSON_RPC_REFUSED = -32000
WHOLE_SECONDS = re.compile("[0-9]{1,6}")
# How OpenSSL calls it; no further attempt changes it.
UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


class Client:
    """The API as one account sees it. Paths are below the service's address, `/v2/charges/`."""

    def __init__(self, account: Identity) -> None:
        self.account = account
        # A proxy cannot reach what listens on this machine.
        self._may_use_proxy = not is_loopback(account.url)
        with faults_named():
            self._http = httpx2.Client(
                auth=(account.key, ""),
                headers={"User-Agent": f"kaha-cli/{VERSION}"},
                timeout=httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
                trust_env=self._may_use_proxy,
            )

    def get(self, path: str, **query: Any) -> httpx2.Response:
        """Return the answer to a GET, as `send` does; a query of None is left out."""
        return self.send("GET", path, params={name: value for name, value in query.items() if value is not None})

    def post(self, path: str, body: dict[str, Any], idempotency_key: str = "") -> httpx2.Response:
        """Return the answer to a POST; every attempt has the same idempotency key, so it is done once at most."""
        return self.send("POST", path, json=body, headers={"Idempotency-Key": idempotency_key or new_key()})

    def relay(self, path: str, message: dict[str, Any], headers: dict[str, str]) -> dict[str, Any] | None:
        """Return the answer to one message of an assistant, of any status; None where there is none.

        It is sent once, because it may move money. Raises Refused or Unreachable.
        """
        accepted = {"Accept": "application/json, text/event-stream"}
        try:
            response = self._http.post(f"{self.account.url}{path}", json=message, headers=accepted | headers)
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None
        if response.status_code == ACCEPTED:
            return None
        answer: dict[str, Any] = response.json() if _is_object(response) else {}
        # Without an ID it is no answer to this message: it was refused before it was read.
        if "jsonrpc" in answer and answer.get("id") is not None:
            return answer
        raise _failure_of(self.account.url, response)

    def send_form(self, page: str, fields: dict[str, str]) -> None:
        """Send the form of a payer's page, as a browser does, without a key. Raises Refused or Unreachable."""
        try:
            response = self._http.post(page, data=fields, auth=httpx2.Auth())
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None
        if response.is_error:
            raise _failure_of(self.account.url, response)

    def send(self, method: str, path: str, **request: Any) -> httpx2.Response:
        """Return the 2xx answer, after four attempts at most. Raises Refused or Unreachable."""
        may_have_arrived = False
        for pause in (*PAUSES_SECONDS, None):
            try:
                return self.send_once(method, path, **request)
            except Failure as failure:
                failure.may_have_arrived = may_have_arrived = failure.may_have_arrived or may_have_arrived
                if pause is None or not failure.is_temporary or failure.retry_after > LONGEST_WAIT_SECONDS:
                    raise
                time.sleep(max(pause, failure.retry_after))
        raise AssertionError("The last attempt returns or raises.")

    def send_once(self, method: str, path: str, **request: Any) -> httpx2.Response:
        """Return the 2xx answer to one attempt, which is JSON. Raises Refused or Unreachable."""
        url = self.account.url
        try:
            response = self._http.request(method, f"{url}{path}", **request)
        except httpx2.InvalidURL:
            raise Misuse("An argument is too long for an address. Nothing was sent.") from None
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from None
        if response.is_success and _is_object(response):
            return response
        raise _failure_of(url, response)

    def _unreachable(self, error: httpx2.HTTPError) -> Unreachable:
        reason = reason_of(error)
        if self._may_use_proxy and has_proxy():
            reason += f" It was tried by the proxy: see {proxies()}."
        failure = Unreachable(self.account.url, printable(reason), not isinstance(error, NEVER_SENT))
        failure.is_temporary = UNTRUSTED not in str(error)
        return failure


def new_key() -> str:
    """Return an idempotency key that nothing has used."""
    return f"kaha-cli-{secrets.token_hex(16)}"


def reason_of(error: httpx2.HTTPError) -> str:
    """Return in words why no answer came."""
    if isinstance(error, httpx2.ConnectTimeout):
        return f"no connection within {CONNECT_SECONDS:g} seconds."
    if isinstance(error, httpx2.TimeoutException):
        return "no answer in time."
    if UNTRUSTED in str(error):
        return (
            f"its certificate is not trusted ({error}). Name your company's authority in SSL_CERT_FILE, if it has one."
        )
    if isinstance(error, httpx2.ConnectError):
        return f"no connection ({error})."
    if isinstance(error, httpx2.ProxyError):
        return f"the proxy refused ({error})."
    return f"the connection broke off ({type(error).__name__})."


def _is_object(response: httpx2.Response) -> bool:
    try:
        return isinstance(response.json(), dict)
    except ValueError:
        return False


def _failure_of(url: str, response: httpx2.Response) -> Failure:
    try:
        error = dict(response.json()["error"])
        if error.get("code") == JSON_RPC_REFUSED:
            error = dict(error["data"])
        retry_after = response.headers.get("Retry-After", "")
        seconds = float(retry_after) if WHOLE_SECONDS.fullmatch(retry_after) else 0.0
        return ApiRefused(response.status_code, error, seconds)
    except (ValueError, KeyError, TypeError):
        failure = Unreachable(url, f"what answers there with {response.status_code} is not kaha. Check KAHA_URL.")
        # A proxy before kaha answers these while kaha is started again; any other answer stays as it is.
        failure.is_temporary = response.status_code in ApiRefused.TEMPORARY_STATUSES
        return failure

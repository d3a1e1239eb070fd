"""Requests to Xendit, and answers whose numbers are decimals; what is no answer is an outcome already."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from payments.json_codecs import bounded_json
from payments.providers import http
from payments.providers.base import NotSent, Unknown
from payments.providers.xendit.channels import DOMAINS

# How Xendit says that it did what it was asked, unless a call is documented with another.
DONE = (HTTPStatus.OK, HTTPStatus.CREATED)


@dataclass(frozen=True, slots=True)
class XenditAnswer:
    """A definite answer; `error_code` is Xendit's name of what is wrong, empty where it did what it was asked.

    The body is in no repr, for it may name its payer.
    """

    status: int
    error_code: str
    body: Mapping[str, Any] = field(repr=False)


# Not sent: it certainly had no effect. Unknown: it may have had, or it cannot be read.
Asked = XenditAnswer | NotSent | Unknown


class XenditClient:
    """One account's way to Xendit."""

    def __init__(self, url: str, secret_key: str, send: http.Send = http.send) -> None:
        self._url = url
        self._send = http.restrict(send, DOMAINS, url)
        basic = base64.b64encode(f"{secret_key}:".encode()).decode()
        self._headers = {"Authorization": f"Basic {basic}", "api-version": "2024-11-11"}

    def get(self, path: str, **query: str | Sequence[str]) -> Asked:
        """Look up `path`; a parameter of several values is repeated."""
        return self._ask("GET", f"{path}?{urlencode(query, doseq=True)}" if query else path, self._headers)

    def post(self, path: str, body: Mapping[str, Any] | None = None, idempotency_key: str = "") -> Asked:
        """Asks for something to be done."""
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key:
            headers["idempotency-key"] = idempotency_key
        return self._ask("POST", path, headers, None if body is None else write(body))

    def post_form(self, path: str, fields: Sequence[http.Field]) -> Asked:
        """Send texts and files as a form."""
        content_type, content = http.form(fields)
        return self._ask("POST", path, self._headers | {"Content-Type": content_type}, content)

    def begin(self, path: str) -> Asked:
        """Asks for something that Xendit only acknowledges, and does later."""
        return self._ask("POST", path, self._headers, done=(HTTPStatus.ACCEPTED,))

    def delete(self, path: str) -> Asked:
        """Delete what is at `path`."""
        return self._ask("DELETE", path, self._headers, done=(HTTPStatus.NO_CONTENT,))

    def _ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        done: Sequence[int] = DONE,
    ) -> Asked:
        try:
            reply = self._send(method, self._url + path, headers, content)
        except http.Unsent as error:
            return NotSent(f"no connection: {error}")
        except http.Unanswered as error:
            return Unknown(f"no answer: {error}")
        return _answer(reply, done)


def _answer(reply: http.Reply, done: Sequence[int]) -> Asked:
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS:
        return NotSent("too many requests")
    if reply.status == HTTPStatus.NO_CONTENT and reply.status in done:
        return XenditAnswer(reply.status, "", {})
    try:
        loaded = _loads(reply.content)
        # Some lookups answer with a list.
        body = {"data": loaded} if isinstance(loaded, list) else _object(loaded)
    except ValueError:
        return Unknown(f"status {reply.status}, and an answer that cannot be read")
    if reply.status in done:
        return XenditAnswer(reply.status, "", body)
    error_code = body.get("error_code")
    is_refusal = HTTPStatus.BAD_REQUEST <= reply.status < HTTPStatus.INTERNAL_SERVER_ERROR
    if is_refusal and reply.status != HTTPStatus.REQUEST_TIMEOUT and isinstance(error_code, str) and error_code:
        return XenditAnswer(reply.status, error_code, body)
    return Unknown(f"status {reply.status}")


def write(body: Mapping[str, Any]) -> bytes:
    """Encode a body as JSON with exact decimals, which the library would convert to floats."""
    return f"{{{', '.join(f'{json.dumps(name)}: {_written(value)}' for name, value in body.items())}}}".encode()


def _written(value: object) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else json.dumps(value)


def read(content: bytes) -> Mapping[str, Any]:
    """Return the JSON object, each number a Decimal. Raise ValueError for anything else."""
    return _object(_loads(content))


def _loads(content: bytes) -> object:
    return bounded_json.loads(content, parse_float=Decimal, parse_int=Decimal, parse_constant=_refuse)


def _object(body: object) -> Mapping[str, Any]:
    if not isinstance(body, dict):
        raise ValueError("no object")  # noqa: TRY004  callers expect one kind of error
    return body


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")

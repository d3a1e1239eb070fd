"""A developer's receiver of webhooks: the secret that signs for it, and events on their way to it."""

import asyncio
import base64
import binascii
import hmac
import re
import secrets
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import IO, Any

import click
import httpx2

from kaha_cli import profiles
from kaha_cli.command import Function
from kaha_cli.environment import SECRET, faults_named, given, is_address, variable
from kaha_cli.failures import Misuse

TOTAL_SECONDS = 10.0
# A receiver that is started anew on each change of its code is back by then.
RETRY_SECONDS = 1.0
STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})[ \r\n]")
WHSEC = "whsec_"
SECRET_BYTES = 32
SECRET_MAX_LENGTH = 1000


@dataclass(frozen=True)
class Outcome:
    """What a receiver answered: its status, or 0 and the reason why there is none."""

    status: int
    reason: str
    milliseconds: int

    @property
    def is_taken(self) -> bool:
        return 200 <= self.status < 300


def check_receiver_url(url: str) -> None:
    """Raise Misuse unless `url` is one to which a request can be sent."""
    if not is_address(url):
        raise Misuse("The receiver's address must look like http://localhost:3000/hook")


def secret_option(function: Function) -> Callable[..., Any]:
    """Give a command the option that says which secret signs. It is never an argument: every user sees those."""
    where = "Default: $KAHA_WEBHOOK_SECRET, or one of this machine that stays the same."
    words = f"A file with the secret that signs, whsec_…; - reads standard input. {where}"
    return click.option("--secret-file", type=click.File(encoding="utf-8"), metavar="FILE", help=words)(function)


def signing_secret(file: IO[str] | None, profile: str) -> str:
    """Return the secret of `file`, or else of KAHA_WEBHOOK_SECRET, or else that of the profile. Raises Misuse."""
    if file is None:
        secret = variable(SECRET)
        return check_secret(secret) if secret else _kept_secret(profile)
    try:
        return check_secret(given(file.read(SECRET_MAX_LENGTH), "--secret-file"))
    except (OSError, UnicodeDecodeError):
        raise Misuse("The file of --secret-file cannot be read as text.") from None


def check_secret(secret: str) -> str:
    """Return `secret` if it can sign. Raises Misuse."""
    if not secret.startswith(WHSEC) or not _key_of(secret):
        raise Misuse("A webhook secret is whsec_ and base64.")
    return secret


def new_secret() -> str:
    """Return a new `whsec_…`."""
    return WHSEC + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def _kept_secret(profile: str) -> str:
    """Return the secret of the profile, which is made at its first use and kept."""
    stored = profiles.load()
    kept = stored.setdefault(profile, {})
    if "webhook_secret" not in kept:
        kept["webhook_secret"] = new_secret()
        profiles.save(stored)
    return check_secret(kept["webhook_secret"])


def headers_of(secret: str, event_id: str, body: bytes, age_seconds: int = 0) -> dict[str, str]:
    """Return the headers that sign `body`, the event `evt_…`, as sent now or so long ago."""
    seconds = str(int(time.time()) - age_seconds)
    signed = f"{event_id}.{seconds}.".encode() + body
    standard = base64.b64encode(hmac.digest(_key_of(secret), signed, "sha256")).decode()
    # Client libraries of this interface take the secret's whole text for the key.
    plain = hmac.digest(secret.encode(), body, "sha256").hex()
    return {
        "webhook-id": event_id,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{standard}",
        "X-Kaha-Timestamp": seconds,
        "X-Kaha-Signature": f"v1={plain}",
    }


def send(url: str, body: bytes, signature: dict[str, str]) -> Outcome:
    """Send an event to the receiver, and once more after a second where no connection is made."""
    headers = {"Content-Type": "application/json", "User-Agent": "kaha"} | signature
    started = time.monotonic()
    status, reason = asyncio.run(_status_or_reason(httpx2.Request("POST", url, headers=headers, content=body)))
    return Outcome(status, reason, round((time.monotonic() - started) * 1000))


async def _status_or_reason(request: httpx2.Request) -> tuple[int, str]:
    with faults_named():
        # No proxy and no redirect, as kaha itself.
        tls = httpx2.create_ssl_context(trust_env=False)
    try:
        async with asyncio.timeout(TOTAL_SECONDS):
            return await _answer(request, tls if request.url.scheme == "https" else None)
    except TimeoutError:
        return 0, f"no answer within {TOTAL_SECONDS:g} s"


async def _answer(request: httpx2.Request, tls: ssl.SSLContext | None) -> tuple[int, str]:
    try:
        reader, writer = await _connection(request.url, tls)
    except OSError:
        return 0, "no connection: is the receiver running?"
    lines = [b"%s: %s" % header for header in request.headers.raw]
    writer.write(b"\r\n".join([b"POST %s HTTP/1.1" % request.url.raw_path, *lines, b"", request.content]))
    try:
        # A status counts whatever follows it, as kaha itself believes it. Before it, interim answers may come.
        while (found := STATUS.match(await reader.readline())) and int(found[1]) < HTTPStatus.OK:
            while (await reader.readline()).strip():
                pass
    except (OSError, ValueError):
        found = None
    finally:
        writer.close()
    return (int(found[1]), "") if found else (0, "no answer: the connection broke off, or what came is not HTTP")


async def _connection(url: httpx2.URL, tls: ssl.SSLContext | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = url.raw_host.decode(), url.port or (443 if tls else 80)
    try:
        return await asyncio.open_connection(host, port, ssl=tls)
    except OSError:
        await asyncio.sleep(RETRY_SECONDS)
        return await asyncio.open_connection(host, port, ssl=tls)


def _key_of(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(WHSEC), validate=True)
    except (binascii.Error, ValueError):
        return b""

"""A developer's receiver of webhooks: the secret that signs for it, and events on their way to it."""

import asyncio
import base64
import binascii
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

import click
import httpx

from kaha_cli import profiles
from kaha_cli.command import Function
from kaha_cli.environment import SECRET, faults_named, given, is_address, variable
from kaha_cli.failures import Misuse

TOTAL_SECONDS = 10.0
# A receiver that is started anew on each change of its code is back by then.
RETRY_SECONDS = 1.0
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
    status, reason = asyncio.run(_status_or_reason(url, body, headers))
    return Outcome(status, reason, round((time.monotonic() - started) * 1000))


async def _status_or_reason(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    try:
        async with asyncio.timeout(TOTAL_SECONDS):
            return await _status_of(url, body, headers), ""
    except (TimeoutError, httpx.TimeoutException):
        return 0, f"no answer within {TOTAL_SECONDS:g} s"
    except httpx.ConnectError:
        return 0, "no connection: is the receiver running?"
    except httpx.HTTPError as error:
        return 0, f"no answer: the connection broke off ({type(error).__name__})"


async def _status_of(url: str, body: bytes, headers: dict[str, str]) -> int:
    with faults_named():
        # No proxy and no redirect, as kaha itself. This limit is for each step; the one of the caller for all of them.
        client = httpx.AsyncClient(trust_env=False, timeout=TOTAL_SECONDS)
    async with client as local:
        try:
            return await _post(local, url, body, headers)
        except httpx.ConnectError:
            await asyncio.sleep(RETRY_SECONDS)
            return await _post(local, url, body, headers)


async def _post(local: httpx.AsyncClient, url: str, body: bytes, headers: dict[str, str]) -> int:
    # The body of the answer is not read: its status is all that counts.
    async with local.stream("POST", url, content=body, headers=headers) as response:
        return response.status_code


def _key_of(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(WHSEC), validate=True)
    except (binascii.Error, ValueError):
        return b""

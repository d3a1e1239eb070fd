"""`kaha listen`: sends every event of the account to a receiver on this machine, signed as kaha signs."""

import asyncio
import base64
import binascii
import hmac
import secrets
import time

import click
import httpx

from kaha_cli import profiles
from kaha_cli.client import Client
from kaha_cli.command import clock_time, echo, example, until_interrupted, with_client
from kaha_cli.failures import Misuse, printable
from kaha_cli.feed import Feed, Item, types_option

TOTAL_SECONDS = 10.0
# A receiver that is started anew on each change of its code is back by then.
RETRY_SECONDS = 1.0
WHSEC = "whsec_"
SECRET_BYTES = 32


@click.command(
    epilog=example(
        "kaha listen --forward-to http://localhost:3000/hook",
        "kaha listen --forward-to http://localhost:3000/hook --events 'charge.*,refund.updated'",
    )
)
@click.option("--forward-to", "url", required=True, metavar="URL", help="Your receiver.")
@types_option("--events")
@click.option(
    "--secret",
    envvar="KAHA_WEBHOOK_SECRET",
    metavar="WHSEC",
    help="The secret that signs, whsec_…. Default: $KAHA_WEBHOOK_SECRET, or one of this machine that stays the same.",
)
@with_client
@until_interrupted
def listen(client: Client, url: str, types: frozenset[str], secret: str | None) -> None:
    """Send this account's events to a receiver on your machine, until Ctrl-C.

    Each event goes out once it happened, one after the other, with the headers and the body that kaha itself would
    send. The receiver has 10 seconds to answer. If no connection is made, one more attempt follows after a second;
    any other outcome is printed and not retried.
    """
    check_receiver_url(url)
    signing = check_secret(secret) if secret else _kept_secret(client.account.profile)
    feed = Feed(client, "/v2/events/")
    echo(f"Your webhook secret is {signing}")
    echo(f"Events of {client.account.url} go to {url}.")
    for item in feed:
        if item.value["type"] in types:
            outcome = asyncio.run(forward(url, signing, item))
            name = f"{printable(item.value['type']):17} {printable(item.value['id'])}"
            echo(f"{clock_time(item.value['created_at'])}  {name}  {outcome}")


def check_receiver_url(url: str) -> None:
    """Raise Misuse unless `url` is one to which a request can be sent."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Misuse("--forward-to must look like http://localhost:3000/hook")


async def forward(url: str, secret: str, item: Item) -> str:
    """Send an event to the receiver; return in words what came of it: status and time, or why there is none."""
    body = item.text.encode()
    headers = {"Content-Type": "application/json", "User-Agent": "kaha"} | headers_of(secret, item.value["id"], body)
    started = time.monotonic()
    try:
        async with asyncio.timeout(TOTAL_SECONDS):
            status = await _status_of(url, body, headers)
    except (TimeoutError, httpx.TimeoutException):
        return f"no answer within {TOTAL_SECONDS:g} s"
    except httpx.ConnectError:
        return "no connection: is the receiver running?"
    except httpx.HTTPError as error:
        return f"no answer: the connection broke off ({type(error).__name__})"
    taken = round((time.monotonic() - started) * 1000)
    return f"{status}  {taken} ms" if 200 <= status < 300 else f"{status}  {taken} ms  kaha would retry: not 2xx"


async def _status_of(url: str, body: bytes, headers: dict[str, str]) -> int:
    # No proxy and no redirect, as kaha itself. This limit is for each step; the one around it is for all of them.
    async with httpx.AsyncClient(trust_env=False, timeout=TOTAL_SECONDS) as local:
        try:
            return await _post(local, url, body, headers)
        except httpx.ConnectError:
            await asyncio.sleep(RETRY_SECONDS)
            return await _post(local, url, body, headers)


async def _post(local: httpx.AsyncClient, url: str, body: bytes, headers: dict[str, str]) -> int:
    # The body of the answer is not read: its status is all that counts.
    async with local.stream("POST", url, content=body, headers=headers) as response:
        return response.status_code


def _kept_secret(profile: str) -> str:
    """Return the secret of the profile, which is made at its first use and kept."""
    stored = profiles.load()
    kept = stored.setdefault(profile, {})
    if "webhook_secret" not in kept:
        kept["webhook_secret"] = new_secret()
        profiles.save(stored)
    return check_secret(kept["webhook_secret"])


def new_secret() -> str:
    """Return a new `whsec_…`."""
    return WHSEC + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def check_secret(secret: str) -> str:
    """Return `secret` if it can sign. Raises Misuse."""
    if not secret.startswith(WHSEC) or not _key_of(secret):
        raise Misuse("A webhook secret is whsec_ and base64.")
    return secret


def headers_of(secret: str, event_id: str, body: bytes) -> dict[str, str]:
    """Return the headers that sign `body`, the event `evt_…`, as sent now."""
    seconds = str(int(time.time()))
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


def _key_of(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(WHSEC), validate=True)
    except binascii.Error:
        return b""

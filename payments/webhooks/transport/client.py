"""Sends one event to one notify URL, and nowhere else.

A try reads the URL strictly, asks for its name's addresses once, checks every one of them, and connects to these
alone, with Host header and TLS name as in the URL. It follows no redirect, keeps no cookie, takes no proxy or
password from the environment, unpacks nothing, and is over when its time is.
"""

import asyncio
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import hdrs
from django.conf import settings
from yarl import URL

from payments import VERSION
from payments.webhooks.transport.addresses import Address, denial_of
from payments.webhooks.transport.connections import AddressesInHost, AnswerSoFar, Connector, current_answer, host_of
from payments.webhooks.transport.name_lookup import ANYBODY, Lookup, Lookups, Resolver, SystemResolver
from payments.webhooks.transport.results import (
    KEPT_MAX_BYTES,
    Answer,
    Failure,
    FailureKind,
    kept_headers,
    retry_after_of,
)
from payments.webhooks.transport.urls import CheckedUrl, ForbiddenUrl, check_url

HEADERS = {"Content-Type": "application/json", "User-Agent": f"kaha/{VERSION}"}
# More would only lengthen the search for one that answers.
ADDRESSES_TRIED_COUNT = 8
# Shorter than any usual server's, so that it does not close a connection while we send on it.
KEEP_ALIVE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one try may take (connecting includes TLS)."""

    connect_seconds: float = 3.0
    total_seconds: float = 10.0
    answer_max_bytes: int = 16 * 1024
    kept_max_bytes: int = KEPT_MAX_BYTES


# Once: it reads all authorities from the disk.
@cache
def system_trust() -> ssl.SSLContext:
    """Return the system's trust in certificates, which is the same on every Python."""
    context = ssl.create_default_context()
    # From 3.13 on it would refuse a company's own authority that lacks an extension of RFC 5280, such as key usage, and
    # trust an intermediate one alone.
    context.verify_flags &= ~(ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN)
    context.set_alpn_protocols(["http/1.1"])
    return context


class TryFailed(Exception):
    """The end of a try, for a reason of ours; the text is the failure's reason."""

    def __init__(self, kind: FailureKind, reason: str = "") -> None:
        super().__init__(reason)
        self.kind = kind


class Request(aiohttp.ClientRequest):
    """One that asks for nothing packed; to take aiohttp's header out of each request again would cost more."""

    DEFAULT_HEADERS = {hdrs.ACCEPT: "*/*"}


@dataclass(slots=True)
class Stage:
    """How far a try has come, by what it means if its time is over now."""

    if_late: FailureKind = FailureKind.NAME_TIMEOUT


class Transport:
    """A sender, used as `async with Transport() as transport` and kept for as long as its event loop runs.

    `resolve` stands in for the system's resolver, `tls` for the system's trust in certificates.
    """

    def __init__(
        self, resolve: Resolver | None = None, tls: ssl.SSLContext | None = None, limits: Limits | None = None
    ) -> None:
        self._system = SystemResolver()
        self._lookups = Lookups(resolve or self._system)
        self._tls = tls or system_trust()
        self._limits = limits or Limits()

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            # Unlimited, because the caller counts: to wait for room here would be taken for a receiver's slowness.
            connector=Connector(
                limit=0,
                resolver=AddressesInHost(),
                use_dns_cache=False,
                keepalive_timeout=KEEP_ALIVE_SECONDS,
                ssl=self._tls,
            ),
            timeout=aiohttp.ClientTimeout(connect=self._limits.connect_seconds),
            headers=HEADERS,
            request_class=Request,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            read_bufsize=self._limits.answer_max_bytes // 4,
            trust_env=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lookups.close()
        self._system.close()
        await self._session.close()

    async def send(
        self, url: str, body: bytes, headers: Mapping[str, str], livemode: bool, lookup: Lookup = ANYBODY
    ) -> Answer | Failure:
        """POST `body`, which is JSON, to `url` with these headers; whatever the receiver does is in the result.

        `lookup` says for whom the name's addresses are asked for.
        """
        stage, answer, started = Stage(), AnswerSoFar(), time.monotonic()
        current_answer.set(answer)
        try:
            async with asyncio.timeout(self._limits.total_seconds):
                await self._try(url, body, headers, livemode, lookup, stage, answer)
        except (TryFailed, aiohttp.ClientError, OSError) as error:
            if answer.status is None:
                return Failure(_kind_of(error, stage), _milliseconds_since(started), _reason_of(error))
        assert answer.status is not None  # nosec B101 # for the type checker: an answer has one
        took = _milliseconds_since(started)
        return Answer(answer.status, answer.first_bytes, took, answer.retry_after, answer.headers)

    async def _try(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        livemode: bool,
        lookup: Lookup,
        stage: Stage,
        answer: AnswerSoFar,
    ) -> None:
        target = _checked_url(url, livemode)
        addresses = await self._checked_addresses(target, livemode, lookup)
        stage.if_late = FailureKind.TIMEOUT
        async with await self._post(target, addresses, body, headers) as response:
            answer.status, answer.retry_after = response.status, retry_after_of(response.headers.get("Retry-After"))
            answer.headers = kept_headers(response.headers)
            left_bytes = self._limits.answer_max_bytes
            while left_bytes and not response.content.at_eof():
                chunk = await response.content.read(left_bytes)
                left_bytes -= len(chunk)
                answer.first_bytes += chunk[: self._limits.kept_max_bytes - len(answer.first_bytes)]

    async def _checked_addresses(self, target: CheckedUrl, livemode: bool, lookup: Lookup) -> list[Address]:
        addresses = [target.address] if target.address else await self._addresses_of(target.host, lookup)
        for address in addresses:
            loopback_allowed = settings.NOTIFY_ALLOW_LOOPBACK and not livemode
            denial = denial_of(address, loopback_allowed)
            if denial:
                raise TryFailed(FailureKind.FORBIDDEN_ADDRESS, f"{address}: {denial}")
        return addresses

    async def _addresses_of(self, name: str, lookup: Lookup) -> list[Address]:
        try:
            return await self._lookups.addresses_of(name, lookup)
        except OSError as error:
            raise TryFailed(FailureKind.NAME_NOT_FOUND, str(error)) from error

    async def _post(
        self, target: CheckedUrl, addresses: Sequence[Address], body: bytes, headers: Mapping[str, str]
    ) -> aiohttp.ClientResponse:
        host = host_of(addresses[:ADDRESSES_TRIED_COUNT])
        return await self._session.post(
            URL(f"{target.scheme}://{host}:{target.port}{target.target}", encoded=True),
            # Its kind is known, which aiohttp would find out by trying all that there are.
            data=aiohttp.BytesPayload(body),
            headers={**headers, "Host": target.authority},
            # Without TLS too, for it keeps the pools of two names on one address apart.
            server_hostname=target.host,
            allow_redirects=False,
        )


def _checked_url(url: str, livemode: bool) -> CheckedUrl:
    try:
        return check_url(url, livemode)
    except ForbiddenUrl as error:
        raise TryFailed(FailureKind.FORBIDDEN_URL, str(error)) from error


def _kind_of(error: Exception, stage: Stage) -> FailureKind:
    match error:
        case TryFailed():
            return error.kind
        case aiohttp.ConnectionTimeoutError():
            return FailureKind.CONNECT_TIMEOUT
        case TimeoutError():
            return stage.if_late
        case aiohttp.ClientSSLError():
            return FailureKind.TLS_FAILED
        case aiohttp.ClientConnectorError():
            return FailureKind.CONNECT_FAILED
        case aiohttp.ClientResponseError():
            return FailureKind.BAD_ANSWER
    return FailureKind.DISCONNECTED


def _reason_of(error: Exception) -> str:
    if isinstance(error, TryFailed):
        return str(error)
    # The cause is the system's or OpenSSL's; other errors quote what the receiver sent.
    return str(error.__cause__) if isinstance(error, aiohttp.ClientConnectorError) else ""


def _milliseconds_since(moment: float) -> int:
    return round((time.monotonic() - moment) * 1000)

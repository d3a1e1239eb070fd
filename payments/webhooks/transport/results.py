"""What a try can come to."""

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from django.utils.http import parse_http_date_safe

from payments import clock
from payments.sensitive_data.redaction import shortened

# Of the headers of an answer, what says why it is not the one that was expected; none that may hold a secret.
KEPT_HEADERS = ("Content-Type", "Content-Length", "Location", "Retry-After", "Server", "Via", "X-Request-Id")
HEADER_MAX_LENGTH = 200
KEPT_MAX_BYTES = 2048
NO_LETTERS = (string.digits + string.punctuation + string.whitespace).encode()
DELTA_SECONDS = re.compile(r"[0-9]{1,9}")


class FailureKind(StrEnum):
    """Why a try came to no answer."""

    FORBIDDEN_URL = "forbidden_url"
    FORBIDDEN_ADDRESS = "forbidden_address"
    NAME_NOT_FOUND = "name_not_found"
    NAME_TIMEOUT = "name_timeout"
    CONNECT_FAILED = "connect_failed"
    CONNECT_TIMEOUT = "connect_timeout"
    TLS_FAILED = "tls_failed"
    TIMEOUT = "timeout"  # no status came in time
    DISCONNECTED = "disconnected"  # the receiver broke off before it said a status
    BAD_ANSWER = "bad_answer"  # not HTTP
    BROKEN = "broken"  # a fault of ours; see the log
    SWITCHED_OFF = "switched_off"  # its endpoint gets no webhooks any more, so none was sent


# What a receiver, or its name server, that does not answer comes to.
TIMEOUTS = frozenset({FailureKind.NAME_TIMEOUT, FailureKind.CONNECT_TIMEOUT, FailureKind.TIMEOUT})


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver answered: `first_bytes` of the body as sent; `retry_after` in seconds, where it asked so; of
    its `headers` those that are kept, a line each.

    Its status counts whatever followed it: what cannot be read of the rest is left out.
    """

    status: int
    first_bytes: bytes
    milliseconds: int
    retry_after: int | None
    headers: str = field(default="", compare=False)

    @property
    def is_proper(self) -> bool:
        """Any 2xx; a redirect is none."""
        return 200 <= self.status < 300

    @property
    def kept_bytes(self) -> bytes:
        """The first bytes without a number at their cut: no search would find the first digits of one."""
        return self.first_bytes.rstrip(NO_LETTERS) if len(self.first_bytes) == KEPT_MAX_BYTES else self.first_bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """A try without an answer. `reason` is a line for operators, with nothing in it that the receiver sent."""

    kind: FailureKind
    milliseconds: int
    reason: str = ""


def kept_headers(headers: Mapping[str, str]) -> str:
    """Return the lines of KEPT_HEADERS that an answer has."""
    return "\n".join(
        [f"{name}: {shortened(headers[name], HEADER_MAX_LENGTH)}" for name in KEPT_HEADERS if name in headers]
    )


def retry_after_of(header: str | None) -> int | None:
    """Seconds from now by a Retry-After header (RFC 9110: seconds, or a date in one of three forms), if it is one."""
    if header is None:
        return None
    if DELTA_SECONDS.fullmatch(header):
        return int(header)
    moment = parse_http_date_safe(header)
    return None if moment is None else max(0, round(moment - clock.now().timestamp()))

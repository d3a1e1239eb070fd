"""Errors of the API: from an exception to an answer in the error envelope (contract, section 4)."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from math import ceil
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import IntegrityError, InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpResponse
from psycopg.errors import CheckViolation, LockNotAvailable, ReadOnlySqlTransaction
from rest_framework import exceptions

from payments import context
from payments.api.responses.error_envelope import error_body
from payments.api.responses.rendering import json_response
from payments.domain.catalogue import error_table
from payments.domain.catalogue.error_table import KEY_INVALID, Refusal
from payments.domain.shared import errors
from payments.domain.shared.errors import PaymentError, busy
from payments.sensitive_data.redaction import redact
from payments.vault import VaultUnavailable

logger = logging.getLogger("kaha.error")

REALM = 'Basic realm="kaha"'
NO_OBJECT = "No such object."
NOT_JSON = (
    "The body must be JSON in UTF-8, sent with Content-Type: application/json. "
    "Forms, other JSON types and other charsets are not accepted."
)
MAX_FAULTS = 100
MAX_NAME_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a request: its place (`("body", "card", "number")`), a message and an error code."""

    loc: tuple[str, ...]
    msg: str
    type: str

    @property
    def name(self) -> str:
        """Return the member's dotted name, without `body` or `query`."""
        return ".".join(self.loc[1:])


@dataclass
class ApiError(Exception):
    """An answer in the error envelope; `errors` lists every fault of a 422. No message repeats what was sent."""

    status: int
    type: str
    code: str
    message: str
    param: str | None = None
    errors: Sequence[Fault] = ()
    charge_id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


def refused(
    refusal: Refusal, message: str = "", code: str = "", retry_after_seconds: int | None = None, **values: object
) -> ApiError:
    """Return the answer of `refusal`: by default with its first code, and with the words that the table has for it."""
    code = code or next(iter(refusal.codes))
    headers = {} if retry_after_seconds is None else {"Retry-After": str(retry_after_seconds)}
    return ApiError(refusal.status, refusal.type, code, message or refusal.words(code, values), headers=headers)


def invalid_json(message: str) -> ApiError:
    """Return a 400 for a body that is not one JSON object (contract, section 1)."""
    return refused(error_table.BAD_BODY, message)


def not_found(message: str = NO_OBJECT) -> ApiError:
    """Return a 404, the same for an object that does not exist and for another merchant's."""
    return refused(error_table.NOT_FOUND, message)


def no_such_path(near: str | None = None) -> ApiError:
    """Return a 404 for an unknown path; `near` is the template of the path that was probably meant."""
    meant = f" Did you mean {near}?" if near else ""
    reference = f"{settings.PUBLIC_URL}/docs"
    return not_found(f"There is nothing at this path.{meant} The API is below /v2, its reference at {reference}.")


def rate_limited(wait_seconds: int) -> ApiError:
    """Return a 429 with `Retry-After`."""
    return as_api_error(errors.rate_limited(wait_seconds))


def invalid(faults: Iterable[Fault]) -> ApiError:
    """Return a 422 with all `faults` (at least one); `code` and `param` are those of the first."""
    named = [_presentable(fault) for fault in list(faults)[:MAX_FAULTS]]
    first = named[0]
    message = f"{first.name}: {first.msg}" if first.name else first.msg
    return replace(refused(error_table.INVALID, message, first.type), param=first.name or None, errors=named)


def faults_of(detail: Any, loc: tuple[str, ...]) -> Iterator[Fault]:
    """Yield the faults in the `detail` of a DRF ValidationError about the member at `loc`."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from faults_of(inner, (*loc, str(name)))
    elif isinstance(detail, list):
        for inner in detail:
            yield from faults_of(inner, loc)
    else:
        yield Fault(loc, str(detail), detail.code)


def error_response(error: ApiError) -> HttpResponse:
    """Return `error` in the envelope, with the ID of the current request."""
    body = error_body(error, error.type, context.request_id.get(), _by_name(error.errors) or None)
    if error.errors:
        body["detail"] = [{"loc": fault.loc, "msg": fault.msg, "type": fault.type} for fault in error.errors]
    headers = {"WWW-Authenticate": REALM} if error.status == 401 else {}
    return json_response(body, error.status, headers | dict(error.headers))


@singledispatch
def as_api_error(exc: Exception) -> ApiError:
    """Return the answer to an exception; the details of an unexpected one go to the log alone."""
    return _unexpected(exc)


def _unexpected(exc: Exception) -> ApiError:
    logger.error("An unexpected error ended a request.", exc_info=exc)
    return refused(error_table.INTERNAL)


@as_api_error.register(InterfaceError)
@as_api_error.register(OperationalError)
def _(exc: Exception) -> ApiError:
    """Return a 409 for a lock that was not free, and a 503 for a database that did not answer in time.

    Neither is ever the answer once money may have moved.
    """
    if isinstance(exc.__cause__, LockNotAvailable):
        return as_api_error(busy())
    logger.error("The database did not answer a request in time.", exc_info=exc)
    return _database_away()


@as_api_error.register(IntegrityError)
@as_api_error.register(InternalError)
def _(exc: Exception) -> ApiError:
    """Return a 503 for a database that takes no writes, or has no table for this month; else it is unexpected."""
    cause = exc.__cause__
    # A row that no partition takes breaks a constraint without a name.
    has_no_partition = isinstance(cause, CheckViolation) and cause.diag.constraint_name is None
    if not (has_no_partition or isinstance(cause, ReadOnlySqlTransaction)):
        return _unexpected(exc)
    logger.error("The database could not store what a request asked for.", exc_info=exc)
    return _database_away()


def _database_away() -> ApiError:
    return refused(error_table.OVERLOADED, retry_after_seconds=1)


@as_api_error.register
def _(exc: ApiError) -> ApiError:
    return exc


@as_api_error.register
def _(exc: PaymentError) -> ApiError:
    error = refused(exc.kind, exc.message, exc.code, exc.retry_after_seconds)
    return replace(error, param=exc.param, charge_id=exc.charge_id)


@as_api_error.register
def _(exc: VaultUnavailable) -> ApiError:
    logger.error("The vault has no key to encrypt or decrypt the card data of a request.", exc_info=exc)
    return refused(error_table.VAULT_UNAVAILABLE, retry_after_seconds=1)


@as_api_error.register
def _(exc: exceptions.ValidationError) -> ApiError:
    return invalid(faults_of(exc.detail, ("body",)))


@as_api_error.register
def _(exc: exceptions.AuthenticationFailed) -> ApiError:
    code = str(exc.get_codes())
    if code == exc.default_code:
        code = KEY_INVALID
    return refused(error_table.NO_KEY, str(exc.detail), code)


@as_api_error.register
def _(exc: exceptions.Throttled) -> ApiError:
    return rate_limited(ceil(getattr(exc, "wait", None) or 1))


# Exceptions of Django and DRF that are refused without a look at them, some in words of their own.
REFUSED: Mapping[type[Exception], tuple[Refusal, str]] = {
    **dict.fromkeys((Http404, exceptions.NotFound), (error_table.NOT_FOUND, NO_OBJECT)),
    exceptions.NotAuthenticated: (error_table.NO_KEY, ""),
    **dict.fromkeys((PermissionDenied, exceptions.PermissionDenied), (error_table.NOT_PUBLISHABLE, "")),
    exceptions.MethodNotAllowed: (error_table.BAD_METHOD, "This path does not answer that method."),
    exceptions.UnsupportedMediaType: (error_table.BAD_TYPE, NOT_JSON),
    **dict.fromkeys(
        (exceptions.ParseError, SuspiciousOperation), (error_table.BAD_BODY, "The request cannot be read.")
    ),
}
for kind, answer in REFUSED.items():
    as_api_error.register(kind, lambda _exc, answer=answer: refused(*answer))


def _presentable(fault: Fault) -> Fault:
    """Redact and shorten the names in `fault`: an unknown member's name is client text, perhaps a card number."""
    return Fault(tuple(redact(part)[:MAX_NAME_LENGTH] for part in fault.loc), fault.msg, fault.type)


def _by_name(faults: Sequence[Fault]) -> dict[str, list[str]]:
    messages: dict[str, list[str]] = {}
    for fault in faults:
        messages.setdefault(fault.name, []).append(fault.msg)
    return messages

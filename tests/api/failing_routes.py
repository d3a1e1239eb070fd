"""Routes that raise any exception, for tests of the error envelope."""

from dataclasses import replace
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from psycopg.errors import AdminShutdown, LockNotAvailable
from rest_framework import exceptions
from rest_framework.request import Request

from payments.api.responses.errors import ApiError, Fault, invalid
from payments.api.views.base import ApiView
from payments.domain.shared.errors import conflict
from payments.domain.shared.errors import invalid as refused
from payments.pages.responses import for_payers

SECRET = "4242424242424242"

FAILURES: dict[str, Exception] = {
    "bug": RuntimeError(f"the card is {SECRET} and its cvc=123"),
    "http404": Http404(SECRET),
    "not_found": exceptions.NotFound(SECRET),
    "permission": exceptions.PermissionDenied(),
    "django_permission": PermissionDenied(),
    "unauthenticated": exceptions.NotAuthenticated(),
    "bad_key": exceptions.AuthenticationFailed("No such key."),
    "revoked": exceptions.AuthenticationFailed("Revoked.", code="key_revoked"),
    "media_type": exceptions.UnsupportedMediaType("text/plain"),
    "throttled": exceptions.Throttled(2.1),
    "parse": exceptions.ParseError(),
    "suspicious": SuspiciousOperation(),
    "validation": exceptions.ValidationError({"a": {"b": ["bad"]}, "c": ["worse", "worst"]}, code="pattern"),
    "conflict": replace(conflict("resource_busy", "Busy.", "ch_1", "amount"), retry_after_seconds=1),
    "domain": refused("source_type_unavailable", "card.type", "Not in this mode."),
    "own": ApiError(503, "api_error", "provider_unavailable", "Away.", headers={"Retry-After": "7"}),
    "many": invalid(Fault(("body", f"{SECRET}{number}" + "x" * 500), "?", "unknown") for number in range(1000)),
}


def _caused_by(cause: Exception) -> OperationalError:
    error = OperationalError(SECRET)
    error.__cause__ = cause
    return error


FAILURES |= {"lock": _caused_by(LockNotAvailable()), "database": _caused_by(AdminShutdown())}


class Breaking(ApiView):
    """Raises what its path says."""

    def get(self, request: Request, failure: str) -> HttpResponse:
        raise FAILURES[failure]

    post = get


def bug(request: HttpRequest, **_: Any) -> HttpResponse:
    """Raise outside of DRF."""
    raise RuntimeError(SECRET)


def outage(request: HttpRequest) -> HttpResponse:
    """Raise as when the database is out of reach."""
    raise OperationalError(SECRET)


def suspicious(request: HttpRequest) -> HttpResponse:
    raise SuspiciousOperation(SECRET)


urlpatterns = [
    path("v2/fail/<failure>", Breaking.as_view()),
    path("v2/bug/", bug),
    path("v2/suspicious/", suspicious),
    path("page/bug/", bug),
    path("admin/bug/", bug),
    path("page/suspicious/", suspicious),
    path("page/outage/", outage),
    path("page/payer/", for_payers(outage)),
]
handler400 = "config.http.error_pages.bad_request"
handler404 = "config.http.error_pages.not_found"
handler500 = "config.http.error_pages.server_error"

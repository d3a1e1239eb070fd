"""Turns whatever a view raises into the error envelope."""

from typing import Any

from django.http import HttpResponse

from payments.api.errors import ApiError, Fault, as_api_error, error_response, rate_limited
from payments.api.throttling import count_failure


def exception_handler(exc: Exception, handler_context: dict[str, Any]) -> HttpResponse:
    """DRF's EXCEPTION_HANDLER. Who keeps coming without a valid key is told to slow down instead of 401."""
    view, request = handler_context["view"], handler_context["request"]
    error = as_api_error(exc)
    if error.status == 401:
        verdict = count_failure(request)
        view.headers.update(verdict.headers)
        if not verdict.allowed:
            error = rate_limited(verdict.reset_seconds)
    if error.status == 422 and error.param and not error.errors:
        error.errors = [_located(error, error.param, request.method)]
    response = error_response(error)
    if error.status == 405:
        response["Allow"] = ", ".join(view.allowed_methods)
    return response


def _located(error: ApiError, param: str, method: str) -> Fault:
    """The domain names a member and does not know where the request had it."""
    part = "query" if method in ("GET", "HEAD") else "body"
    return Fault((part, *param.split(".")), error.message, error.code)

"""Turns whatever a view raises into the error envelope."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse

from payments.api.errors import ApiError, Fault, as_api_error, error_response, rate_limited
from payments.api.throttling import count_stranger


def exception_handler(exc: Exception, handler_context: dict[str, Any]) -> HttpResponse:
    """DRF's EXCEPTION_HANDLER."""
    view, request = handler_context["view"], handler_context["request"]
    error = as_api_error(exc)
    # That the service is down is nobody's fault who asks.
    if "RateLimit" not in view.headers and error.status != 503:
        error = told_to_stranger(request, error)
    if error.status == 422 and error.param and not error.errors:
        # The domain names a member and does not know where the request had it.
        part = "query" if request.method in ("GET", "HEAD") else "body"
        error.errors = [Fault((part, *error.param.split(".")), error.message, error.code)]
    response = error_response(error)
    if error.status == 405:
        response["Allow"] = ", ".join(view.allowed_methods)
    return response


def told_to_stranger(request: HttpRequest, error: ApiError) -> ApiError:
    """`error` of a request that was counted against no key: who keeps coming like that is told to slow down instead."""
    verdict = count_stranger(request)
    told = error if verdict.allowed else rate_limited(verdict.reset_seconds)
    return replace(told, headers={**told.headers, **verdict.headers})

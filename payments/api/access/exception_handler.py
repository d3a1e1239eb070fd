"""The exception handler: an answer in the error envelope for every exception of a view."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse

from payments.api.access.throttling import count_anonymous
from payments.api.responses.errors import ApiError, Fault, as_api_error, error_response, rate_limited


def exception_handler(exc: Exception, handler_context: dict[str, Any]) -> HttpResponse:
    """Return the answer to `exc`; it is EXCEPTION_HANDLER of the REST framework."""
    view, request = handler_context["view"], handler_context["request"]
    error = as_api_error(exc)
    # A failure of the service does not count against the caller.
    if "RateLimit" not in view.headers and error.status != 503:
        error = rate_limit_anonymous(request, error)
    if error.status == 422 and error.param and not error.errors:
        # The domain names a member and does not know whether it was in the body or the query.
        part = "query" if request.method in ("GET", "HEAD") else "body"
        error.errors = [Fault((part, *error.param.split(".")), error.message, error.code)]
    if error.status == 405:
        methods = ", ".join(view.allowed_methods)
        message = f"This path does not answer that method. It answers {methods}."
        error = replace(error, message=message, headers={**error.headers, "Allow": methods})
    return error_response(error)


def rate_limit_anonymous(request: HttpRequest, error: ApiError) -> ApiError:
    """Return `error`, or 429 when this address has used up its anonymous quota."""
    usage = count_anonymous(request)
    answer = error if usage.allowed else rate_limited(usage.reset_seconds)
    return replace(answer, headers={**answer.headers, **usage.headers})

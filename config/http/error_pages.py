"""Responses when no view could answer: the error envelope to programs, a page to browsers."""

import sys
from dataclasses import replace

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views import defaults
from rest_framework.exceptions import MethodNotAllowed

from payments.api.access.exception_handler import rate_limit_anonymous
from payments.api.responses.errors import as_api_error, error_response, no_such_path
from payments.api.responses.near_paths import path_near
from payments.api.responses.rendering import prefers_json
from payments.context import request_id
from payments.db.texts.writes import TextRefused
from payments.pages.responses import for_payers, page
from payments.web.environ import is_api

# Pages for people who sign in.
SITES = ("/admin/", "/merchant/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400 for a request that Django refused before any view."""
    if _wants_json(request):
        return error_response(rate_limit_anonymous(request, as_api_error(exception)))
    is_filter = isinstance(exception, DisallowedModelAdminLookup)
    if is_filter or isinstance(exception, TextRefused):
        problem = "This list has no such filter." if is_filter else str(exception)
        return render(request, "400.html", {"problem": problem}, status=400)
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404 for a path without a view; 405 for TRACE, to which no path answers."""
    if request.method == "TRACE":
        return trace_refused(request)
    if _wants_json(request):
        return error_response(rate_limit_anonymous(request, no_such_path(path_near(request.path_info))))
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500 or 503 for an unexpected error outside of the API's views."""
    exception = sys.exc_info()[1]
    error = as_api_error(exception if isinstance(exception, Exception) else Exception())
    if _wants_json(request):
        return error_response(error if error.status == 503 else rate_limit_anonymous(request, error))
    is_unavailable = error.status == 503
    response = _error_page(request, "503.html" if is_unavailable else "500.html")
    if is_unavailable:
        response.status_code, response["Retry-After"] = 503, error.headers["Retry-After"]
    return response


def trace_refused(request: HttpRequest) -> HttpResponse:
    """Return 405 for TRACE, which would send a request's headers back."""
    error = replace(as_api_error(MethodNotAllowed("TRACE")), headers={"Allow": "GET, HEAD"})
    return error_response(rate_limit_anonymous(request, error))


def _error_page(request: HttpRequest, template: str) -> HttpResponse:
    """Return the page for staff and developers, or the one for a payer, who is not to pay twice."""
    match = request.resolver_match
    if match and getattr(match.func, "is_for_payers", False):
        return for_payers(lambda payer: page(payer, "error", status=500))(request)
    back = next(filter(request.path.startswith, SITES), "")
    words = {"request_id": request_id.get(), "back": back}
    return HttpResponse(render_to_string(template, words), status=500)


def _wants_json(request: HttpRequest) -> bool:
    return is_api(request) or prefers_json(request)

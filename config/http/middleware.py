"""Middleware: the use of a request's key, and what pages refuse."""

import logging

from django.db import Error
from django.http import HttpRequest, HttpResponseBase

from config.http.error_pages import trace_refused
from payments import context
from payments.domain.merchants.api_keys import record_use
from payments.models import ApiKey
from payments.web.environ import GetResponse

logger = logging.getLogger("kaha.request")


class KeyUse:
    """Records when a key was last used, outside of the measured time; a failure to record it fails no request.

    It resets the context's merchant after the request.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = context.merchant.set(None)
        try:
            response = self.get_response(request)
            key = getattr(request, "auth", None)
            if key:
                _note_use(key)
            return response
        finally:
            context.merchant.reset(token)


def _note_use(key: ApiKey) -> None:
    try:
        record_use(key)
    except Error as error:
        logger.warning("The last use of an API key was not recorded.", exc_info=error)


class RefuseTrace:
    """Refuses TRACE on pages: their views would take it for GET. The API's views refuse it by themselves."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return trace_refused(request) if request.method == "TRACE" else self.get_response(request)

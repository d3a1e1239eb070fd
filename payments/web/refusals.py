"""Responses to requests that are refused before a thread works on them."""

import logging

from django.http import HttpResponse

from payments import context, ids
from payments.api.access.throttling import client_address
from payments.api.responses.error_forms import put_in_form
from payments.api.responses.errors import ApiError, error_response, refused
from payments.domain.catalogue import error_table
from payments.web.environ import Environ, request_of

logger = logging.getLogger("kaha.request")

BUSY_SECONDS = 1


class RequestRefused(Exception):
    """The request is answered with `error`, and nothing is done."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(error.message)
        self.error = error


def too_many_bodies() -> ApiError:
    """Return 503: too many bodies are late."""
    message = "Too many requests wait for their bodies, and nothing was done. Try again in a moment."
    return refused(error_table.SERVER_BUSY, message, retry_after_seconds=BUSY_SECONDS)


def too_many_requests() -> ApiError:
    """Return 503: all threads are busy, and the queue for them is full."""
    return refused(error_table.SERVER_BUSY, retry_after_seconds=BUSY_SECONDS)


def answer_to(environ: Environ, error: ApiError) -> HttpResponse:
    """Return the response, which closes the connection, and log the request."""
    request_id = ids.public_id("req", ids.new_id())
    token = context.request_id.set(request_id)
    try:
        response = error_response(error)
        put_in_form(environ["PATH_INFO"], response)
        facts = {
            "method": environ["REQUEST_METHOD"],
            "status": response.status_code,
            "remote_address": client_address(request_of(environ)),
        }
        logger.info("request", extra=facts)
    finally:
        context.request_id.reset(token)
    response["Request-Id"] = request_id
    response["Content-Length"] = str(len(response.content))
    response["Connection"] = "close"
    return response

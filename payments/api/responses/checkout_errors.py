"""Errors at the paths of sessions, links and requests, in the form that their clients read (checkout law, 2)."""

import json

from django.http import HttpResponse, HttpResponseBase

from payments.json_codecs.verbatim_json import to_bytes

PATHS = ("/v2/checkout_sessions", "/v2/payment_links", "/v2/payment_requests")
STATUSES = {422: 400}
TYPES = {"validation_error": "invalid_request_error", "not_found_error": "not_found"}


def put_in_form(path: str, response: HttpResponseBase) -> None:
    """Put an answer of the API at `path` in that form, if it is an error at one of PATHS, whatever refused it."""
    if response.status_code < 400 or not path.startswith(PATHS) or not isinstance(response, HttpResponse):
        return
    body = json.loads(response.content)
    error = body["error"]
    error["type"] = TYPES.get(error["type"], error["type"])
    response.status_code = STATUSES.get(response.status_code, response.status_code)
    response.content = to_bytes({"message": error["message"], **body})

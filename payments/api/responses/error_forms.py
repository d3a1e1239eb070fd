"""Errors in the forms that the clients of some paths read: those of checkouts (checkout law, 2), and of assistants."""

import json
import re
from typing import Any

from django.http import HttpResponse, HttpResponseBase

from payments.domain.catalogue import error_table as errors
from payments.json_codecs.verbatim_json import to_bytes

CHECKOUTS = ("/v2/checkout_sessions", "/v2/payment_links", "/v2/payment_requests")
STATUSES = {errors.INVALID.status: errors.CHECKOUT_INVALID.status}
TYPES = {errors.INVALID.type: errors.CHECKOUT_INVALID.type, errors.NOT_FOUND.type: errors.CHECKOUT_NOT_FOUND.type}
ASSISTANTS = re.compile(r"/mcp(?:/|\Z)")
# Of JSON-RPC: what a server refuses by rules of its own.
REFUSED = -32000


def is_for_assistants(path: str) -> bool:
    """Return whether `path` is the one where the keys of assistants work, and no others."""
    return bool(ASSISTANTS.match(path))


def put_in_form(path: str, response: HttpResponseBase) -> None:
    """Put an answer of the API at `path` in its form, if it is an error and the path has one, whatever refused it."""
    if response.status_code < 400 or not isinstance(response, HttpResponse):
        return
    if path.startswith(CHECKOUTS):
        _put_in_form_of_checkouts(response)
    elif is_for_assistants(path):
        _put_in_form_of_assistants(response)


def _put_in_form_of_checkouts(response: HttpResponse) -> None:
    body = json.loads(response.content)
    error = body["error"]
    error["type"] = TYPES.get(error["type"], error["type"])
    # What no provider can take is no fault of the form, and keeps its status.
    if error["code"] != errors.NOT_AVAILABLE:
        response.status_code = STATUSES.get(response.status_code, response.status_code)
    response.content = to_bytes({"message": error["message"], **body})


def _put_in_form_of_assistants(response: HttpResponse) -> None:
    body: dict[str, Any] = json.loads(response.content or b"{}")
    # The protocol's own answers have it already, or say nothing.
    if "error" in body and "jsonrpc" not in body:
        response["Content-Type"] = "application/json"
        error = {"code": REFUSED, "message": body["error"]["message"], "data": body["error"]}
        response.content = to_bytes({"jsonrpc": "2.0", "id": None, "error": error})

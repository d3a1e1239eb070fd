"""The transparency log for anybody: its signed heads, the keys that sign them, and that the log only grew."""

import base64
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from payments.ledger.transparency.heads import head_of, newest_head
from payments.ledger.transparency.tree import consistency_proof
from payments.pages.limit import limited
from payments.vault.signatures import public_keys

Params = ParamSpec("Params")
View = Callable[Concatenate[HttpRequest, Params], HttpResponse]
# A new head is seen within a minute; what is about heads that were signed stays as it is.
MINUTE_SECONDS, DAY_SECONDS = 60, 24 * 3600
NONE_YET = """No head of this log is signed yet.
A worker signs the first one within a minute after the first movement of money, and then one every hour.
"""
NO_KEY = "This service signs no heads: it has no key for them (TRANSPARENCY_KEYS).\n"


def _cached(seconds: int) -> Callable[[View[Params]], View[Params]]:
    """Let anybody keep an answer, and pages of every origin read it; refuse an address beyond its limit."""

    def decorate(view: View[Params]) -> View[Params]:
        @wraps(view)
        def answer(request: HttpRequest, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
            response = view(request, *args, **kwargs)
            response["Cache-Control"], response["Access-Control-Allow-Origin"] = f"public, max-age={seconds}", "*"
            return response

        return cast(View[Params], limited(require_safe(answer)))

    return decorate


@_cached(MINUTE_SECONDS)
def show_head(request: HttpRequest) -> HttpResponse:
    head = newest_head()
    return _text(head.note) if head else _text(NONE_YET if public_keys() else NO_KEY)


@_cached(DAY_SECONDS)
def show_head_of(request: HttpRequest, size: int) -> HttpResponse:
    head = head_of(size)
    if head is None:
        raise Http404
    return _text(head.note)


@_cached(MINUTE_SECONDS)
def show_keys(request: HttpRequest) -> HttpResponse:
    return _text("".join(f"{key}\n" for key in public_keys()))


@_cached(DAY_SECONDS)
def show_consistency(request: HttpRequest, first: int, second: int) -> HttpResponse:
    """Show that the log of one head is the beginning of that of another."""
    if not 0 < first <= second or head_of(first) is None or head_of(second) is None:
        raise Http404
    proof = [base64.b64encode(each).decode() for each in consistency_proof(first, second)]
    return JsonResponse({"first": first, "second": second, "proof": proof})


def _text(text: str) -> HttpResponse:
    return HttpResponse(text, content_type="text/plain; charset=utf-8")

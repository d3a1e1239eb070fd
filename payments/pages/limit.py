"""A limit on how often one address opens payers' pages, so that a crowd of requests leaves the others their turns."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from payments import context
from payments.domain.risk.addresses import counted
from payments.pages.responses import page
from payments.redis_client.rate_counters import Window, counters_at, parse_rate

Params = ParamSpec("Params")
View = Callable[Concatenate[HttpRequest, Params], HttpResponse]


def address_of_payer() -> str:
    """Return the address of the browser whose request is under way."""
    actor = context.actor.get()
    return actor().origin if actor else ""


def limited(view: View[Params]) -> View[Params]:
    """Answer with 429 beyond RATE_LIMIT_ANONYMOUS of an address, before anything is read."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
        quota, window_seconds = parse_rate(settings.RATE_LIMIT_ANONYMOUS)
        window = Window.present(window_seconds)
        key = window.key(f"page/{counted(address_of_payer())}")
        if counters_at(settings.REDIS_URL).increment(key, window.seconds) <= quota:
            return view(request, *args, **kwargs)
        response = page(request, "busy", status=429)
        response["Retry-After"] = str(window.ends_in_seconds)
        if request.method != "POST":
            response["Refresh"] = str(window.ends_in_seconds + 1)
        return response

    return answer

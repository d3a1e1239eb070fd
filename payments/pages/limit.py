"""A limit on how often one address opens payers' pages, so that a crowd of requests leaves the others their turns."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from payments import context
from payments.domain.risk.addresses import counted
from payments.pages.responses import page
from payments.redis_client.rate_counters import Window, counters_at, parse_rate

Params = ParamSpec("Params")
View = Callable[Concatenate[HttpRequest, Params], HttpResponse]

# In a request's environment: the key of its address in the window until whose end it is refused.
REFUSED = "kaha.refused"


def address_of_payer() -> str:
    """Return the address of the browser whose request is under way."""
    actor = context.actor.get()
    return actor().origin if actor else ""


def window_of(address: str) -> tuple[Window, str]:
    """Return the present window, and the key by which the requests of an address are counted in it."""
    window = Window.present(parse_rate(settings.RATE_LIMIT_ANONYMOUS)[1])
    return window, window.key(f"page/{counted(address)}")


def limited(view: View[Params]) -> View[Params]:
    """Answer with 429 beyond RATE_LIMIT_ANONYMOUS of an address, before anything is read.

    The web server repeats this answer by itself until the window ends.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Params.args, **kwargs: Params.kwargs) -> HttpResponse:
        window, key = window_of(address_of_payer())
        quota, _ = parse_rate(settings.RATE_LIMIT_ANONYMOUS)
        if counters_at(settings.REDIS_URL).increment(key, window.seconds) <= quota:
            return view(request, *args, **kwargs)
        request.META[REFUSED] = key
        response = page(request, "busy", status=429)
        for name, value in ask_again(window, request).items():
            response[name] = value
        return response

    marked: Any = answer
    marked.is_limited = True
    return cast(View[Params], marked)


def ask_again(window: Window, request: HttpRequest) -> dict[str, str]:
    """Return the headers that have a browser ask again after the window: by itself, unless it sent a form."""
    seconds = window.ends_in_seconds
    return {"Retry-After": str(seconds)} | ({} if request.method == "POST" else {"Refresh": str(seconds + 1)})

from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from payments.api.access.exception_handler import rate_limit_anonymous
from payments.api.access.throttling import count_anonymous
from payments.api.guides.contents import CONTENTS, NAMES
from payments.api.responses.errors import error_response, not_found
from payments.api.responses.rendering import json_response, prefers_json

# The last part of the list's own address.
LIST = "guides"


@require_safe
def show_start(request: HttpRequest) -> HttpResponse:
    """Answer `/`: what kaha does, and the way to the back office, the reference and the guides."""
    if prefers_json(request):
        base = settings.PUBLIC_URL
        links = {"api": "/v2", "reference": "/docs", "document": "/v2/openapi.json", "guides": "/docs/guides"}
        return json_response({name: f"{base}{path}" for name, path in links.items()})
    context = {"checkout_url": f"/links/{settings.DEMO_LINK}" if settings.DEMO_LINK else "/docs/checkout"}
    return answer_page(request, lambda: render_to_string("start.html", context).encode())


@require_safe
def list_guides(request: HttpRequest) -> HttpResponse:
    """Answer `/docs/guides`, the list of guides."""
    return answer_page(request, lambda: _page("", settings.PUBLIC_URL))


@require_safe
def show_guide(request: HttpRequest, name: str) -> HttpResponse:
    """Answer `/docs/<name>`, one guide; other spellings of its name lead there, and other names to the list."""
    known = name.lower().removesuffix(".md").replace("_", "-")
    if known not in NAMES and known != LIST:
        return _no_such_guide(request)
    if request.path_info.rstrip("/") != f"/docs/{known}":
        return HttpResponsePermanentRedirect(f"/docs/{known}")
    return answer_page(request, lambda: _page(known, settings.PUBLIC_URL))


def _no_such_guide(request: HttpRequest) -> HttpResponse:
    """Return 404 with the guides that there are."""
    if prefers_json(request):
        names = ", ".join(sorted(NAMES))
        message = f"There is no such guide. At {settings.PUBLIC_URL}/docs/ there are: {names}."
        return error_response(rate_limit_anonymous(request, not_found(message)))
    response = answer_page(request, lambda: _page("", settings.PUBLIC_URL, is_missing=True))
    response.status_code = 404 if response.status_code == 200 else response.status_code
    return response


def answer_page(request: HttpRequest, page: Callable[[], bytes]) -> HttpResponse:
    """Return the page, or 429 when this address has used up its anonymous quota."""
    usage = count_anonymous(request)
    if not usage.allowed:
        headers = {**usage.headers, "Retry-After": str(usage.reset_seconds)}
        return HttpResponse("Too many requests.\n", status=429, content_type="text/plain", headers=headers)
    return HttpResponse(page(), headers={**usage.headers, "Cache-Control": "public, max-age=300"})


@cache
def _page(name: str, public_url: str, is_missing: bool = False) -> bytes:
    """Return the page of a guide, or of the list for ""; `is_missing` says in the list that there is no such guide.

    Rendered once: nothing in it depends on the request.
    """
    # The Markdown parser is imported with the first request for a guide.
    from payments.api.guides.markdown import read_guide

    groups = [
        (group, [(read_guide(one, public_url), line) for one, line in guides.items()])
        for group, guides in CONTENTS.items()
    ]
    context: dict[str, Any] = {"groups": groups, "guide": None, "is_missing": is_missing}
    guide = context["guide"] = read_guide(name, public_url) if name else None
    if name:
        at = NAMES.index(name)
        context["before"], context["next"] = (
            read_guide(NAMES[place], public_url) if 0 <= place < len(NAMES) else None for place in (at - 1, at + 1)
        )
        context["group"] = next(group for group, guides in CONTENTS.items() if name in guides)
    return render_to_string("guide.html" if guide else "guides.html", context).encode()

from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from payments.api.access.throttling import count_anonymous
from payments.api.guides.contents import CONTENTS, NAMES
from payments.api.responses.rendering import json_response, prefers_json


@require_safe
def show_start(request: HttpRequest) -> HttpResponse:
    """Answer `/`: the way to the reference and the guides."""
    if prefers_json(request):
        base = settings.PUBLIC_URL
        links = {"api": "/v2", "reference": "/docs", "document": "/v2/openapi.json", "guides": "/docs/guides"}
        return json_response({name: f"{base}{path}" for name, path in links.items()})
    return answer_page(request, lambda: render_to_string("start.html").encode())


@require_safe
def list_guides(request: HttpRequest) -> HttpResponse:
    """Answer `/docs/guides`, the list of guides."""
    return answer_page(request, lambda: _page("", settings.PUBLIC_URL))


@require_safe
def show_guide(request: HttpRequest, name: str) -> HttpResponse:
    """Answer `/docs/<name>`, one guide."""
    if name not in NAMES:
        raise Http404
    return answer_page(request, lambda: _page(name, settings.PUBLIC_URL))


def answer_page(request: HttpRequest, page: Callable[[], bytes]) -> HttpResponse:
    """Return the page, or 429 when this address has used up its anonymous quota."""
    usage = count_anonymous(request)
    if not usage.allowed:
        headers = {**usage.headers, "Retry-After": str(usage.reset_seconds)}
        return HttpResponse("Too many requests.\n", status=429, content_type="text/plain", headers=headers)
    return HttpResponse(page(), headers={**usage.headers, "Cache-Control": "public, max-age=300"})


@cache
def _page(name: str, public_url: str) -> bytes:
    """Return the page of a guide, or of the list for "". Rendered once: nothing in it depends on the request."""
    # The Markdown parser is imported with the first request for a guide.
    from payments.api.guides.markdown import read_guide

    groups = [(group, [read_guide(one, public_url) for one in names]) for group, names in CONTENTS]
    guide = read_guide(name, public_url) if name else None
    return render_to_string("guide.html" if guide else "guides.html", {"groups": groups, "guide": guide}).encode()

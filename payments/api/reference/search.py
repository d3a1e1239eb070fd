"""What the search of the guides and the reference looks through, as a file that the page reads once."""

import json
import re
from collections.abc import Iterator
from functools import cache
from html import unescape

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.html import strip_tags
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from payments.api.guides.contents import NAMES
from payments.api.guides.views import answer_page
from payments.api.reference.views import page_of_reference

BEGIN_MAX_LENGTH = 120
PART = re.compile(r'<h[1-3] id="([^"]*)">')
SECTION = re.compile(r'<section [^>]*id="([^"]*)" data-title="([^"]*)">')
WORD = re.compile(r"[\w./-]{2,}")


@require_safe
@gzip_page
def show_index(request: HttpRequest) -> HttpResponse:
    """Answer `/docs/search.json`: `[address, title, where, beginning, words]` of each section, in reading order."""
    response = answer_page(request, lambda: _index(settings.PUBLIC_URL))
    if response.status_code == 200:
        response["Content-Type"] = "application/json"
    return response


@cache
def _index(public_url: str) -> bytes:
    # The Markdown parser is imported with the first request for a guide.
    from payments.api.guides.markdown import read_guide

    _, *sections = SECTION.split(page_of_reference(public_url).decode())
    found = [
        _entry(f"/docs#{anchor}", title, "Reference", html)
        for anchor, title, html in zip(sections[::3], sections[1::3], sections[2::3], strict=True)
    ]
    for guide in (read_guide(name, public_url) for name in NAMES):
        found += (_entry(f"/docs/{guide.name}#{anchor}", *text) for anchor, *text in _parts(guide.title, guide.html))
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()


def _parts(guide: str, html: str) -> Iterator[tuple[str, str, str, str]]:
    _, *parts = PART.split(html)
    for anchor, part in zip(parts[::2], parts[1::2], strict=True):
        heading, _, text = part.partition("</h")
        yield anchor, strip_tags(heading), guide, text[2:]


def _entry(address: str, title: str, where: str, html: str) -> list[str]:
    title, text = unescape(title), " ".join(unescape(strip_tags(html)).split())
    return [
        address,
        title,
        where,
        text.removeprefix(title).strip()[:BEGIN_MAX_LENGTH],
        " ".join(sorted(set(WORD.findall(text.lower())))),
    ]

"""A guide from its Markdown: HTML, title, summary and headings. HTML in the Markdown is escaped."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from django.conf import settings
from django.templatetags.static import static
from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER = settings.BASE_DIR / "templates" / "guides"
# What guides call the service's own address.
PLACEHOLDER = "https://kaha.example"
STATIC_FOLDER = "../../payments/static/"
OTHER_GUIDE = re.compile(r"([a-z-]+)\.md(#.*)?")
# Wide tables and code scroll by themselves, also by the keyboard, and leave the page as wide as the screen.
SCROLLING = {
    "<table>": '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>',
    "</table>": "</table></div>",
    "<pre>": '<pre tabindex="0">',
}

_parser = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True, slots=True)
class Heading:
    """A section: its text in HTML, and its anchor, which is the one that it has in the repository."""

    anchor: str
    html: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide as shown at one address of the service. `summary` is the HTML of its first paragraph."""

    name: str
    title: str
    summary: str
    headings: Sequence[Heading]
    html: str


@cache
def read_guide(name: str, public_url: str) -> Guide:
    """Return the guide `name`, one of NAMES, with `public_url` as the service's address."""
    tokens = _parser.parse((FOLDER / f"{name}.md").read_text())
    for token in _inline_tokens(tokens):
        _point_to_pages(token)
    headings = _give_anchors(tokens)
    title, summary = [token for token in tokens if token.type == "inline"][:2]
    return Guide(
        name=name,
        title=title.content,
        summary=_render([summary], public_url),
        headings=[Heading(anchor, _render([text], public_url)) for anchor, text in headings],
        html=_render(tokens, public_url),
    )


def _inline_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def _point_to_pages(token: Token) -> None:
    """Turn a link to a file, as it is right in the repository, into one to the page or picture that is served."""
    href, src = str(token.attrGet("href") or ""), str(token.attrGet("src") or "")
    if guide := OTHER_GUIDE.fullmatch(href):
        token.attrSet("href", f"/docs/{guide[1]}{guide[2] or ''}")
    if src.startswith(STATIC_FOLDER):
        token.attrSet("src", static(src.removeprefix(STATIC_FOLDER)))
        token.attrSet("loading", "lazy")


def _give_anchors(tokens: Sequence[Token]) -> list[tuple[str, Token]]:
    """Give each heading its anchor, and return those of sections with their texts."""
    sections = []
    for opening, text in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = anchor_of(text.content)
            opening.attrSet("id", anchor)
            if opening.tag == "h2":
                sections.append((anchor, text))
    return sections


def anchor_of(heading: str) -> str:
    """Return the anchor that repositories give a heading: lower case, without marks, with hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _render(tokens: Sequence[Token], public_url: str) -> str:
    html = str(_parser.renderer.render(tokens, _parser.options, {}))
    for tag, scrolling in SCROLLING.items():
        html = html.replace(tag, scrolling)
    return html.replace(PLACEHOLDER, escape(public_url))

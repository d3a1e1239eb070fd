"""Guides rendered from Markdown; HTML in the Markdown is escaped."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from django.conf import settings
from django.templatetags.static import static
from django.utils.html import strip_tags
from markdown_it import MarkdownIt
from markdown_it.token import Token

from payments.api.guides.code import coloured

FOLDER = settings.BASE_DIR / "templates" / "guides"
# The service's address as the guides write it.
PLACEHOLDER = "https://kaha.example"
STATIC_FOLDER = "../../payments/static/"
WORDS_A_MINUTE = 200
# A picture that stands alone is small beside the text, and opens in full.
ALONE = re.compile(r'<p>(<img src="([^"]*)"[^>]*>)</p>')
OTHER_GUIDE = re.compile(r"([a-z-]+)\.md(#.*)?")
# Wide tables and code scroll by themselves, also by the keyboard, so that the page fits the screen.
SCROLLING = {
    "<table>": '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>',
    "</table>": "</table></div>",
    "<pre>": '<pre tabindex="0">',
}


PARSER = MarkdownIt(
    "commonmark", {"html": False, "highlight": lambda code, language, _: coloured(code, language)}
).enable("table")


@dataclass(frozen=True, slots=True)
class Heading:
    """A section: its text in HTML, and the anchor that it also has in the repository."""

    anchor: str
    html: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide as the service shows it."""

    name: str
    title: str
    minutes: int
    headings: Sequence[Heading]
    html: str


@cache
def read_guide(name: str, public_url: str) -> Guide:
    """Return the guide `name`, one of NAMES, with `public_url` as the service's address."""
    tokens = PARSER.parse((FOLDER / f"{name}.md").read_text().replace(PLACEHOLDER, public_url))
    for token in _inline_tokens(tokens):
        _point_to_pages(token)
    headings = _give_anchors(tokens)
    html = render(tokens)
    return Guide(
        name=name,
        title=next(token.content for token in tokens if token.type == "inline"),
        minutes=-(-len(strip_tags(html).split()) // WORDS_A_MINUTE),
        headings=[Heading(anchor, render([text])) for anchor, text in headings],
        html=html,
    )


def _inline_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def _point_to_pages(token: Token) -> None:
    """Turn a link to a file of the repository into a link to the page or picture that is served."""
    href, src = str(token.attrGet("href") or ""), str(token.attrGet("src") or "")
    if guide := OTHER_GUIDE.fullmatch(href):
        token.attrSet("href", f"/docs/{guide[1]}{guide[2] or ''}")
    if src.startswith(STATIC_FOLDER):
        token.attrSet("src", static(src.removeprefix(STATIC_FOLDER)))
        token.attrSet("loading", "lazy")


def _give_anchors(tokens: Sequence[Token]) -> list[tuple[str, Token]]:
    """Give each heading its anchor; return the anchors and texts of sections."""
    sections = []
    for opening, text in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = anchor_of(text.content)
            opening.attrSet("id", anchor)
            if opening.tag == "h2":
                sections.append((anchor, text))
    return sections


def anchor_of(heading: str) -> str:
    """Return the anchor that a repository gives a heading: lower case, no marks, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def render(tokens: Sequence[Token]) -> str:
    """Return parsed Markdown as HTML."""
    html = str(PARSER.renderer.render(tokens, PARSER.options, {}))
    for tag, scrolling in SCROLLING.items():
        html = html.replace(tag, scrolling)
    return ALONE.sub(r'<p><a class="picture" href="\2">\1</a></p>', html)

"""The document's Markdown as HTML, and its code with the colours of strings, numbers and words."""

import re
from functools import cache

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from payments.api.guides.markdown import SCROLLING, anchor_of

_parser = MarkdownIt("commonmark", {"html": False}).enable("table")
# A string, a number, a word of a language, a variable. The text is escaped before, so that a quote is `&quot;`.
TOKEN = re.compile(
    r"(?P<text>&quot;(?:(?!&quot;|\n)(?:\\\\|\\&quot;|.))*&quot;)(?P<colon>:)?"
    r"|(?<![\w.:/$-])(?P<number>-?\d+(?:\.\d+)?)(?![\w:/-])"
    r"|(?<![\w.$/-])(?P<word>true|false|null|True|False|None|import|const|await|if|throw|new|exit|echo|curl)(?![\w/-])"
)


def html_of(text: str) -> SafeString:
    """Return a text of several paragraphs as HTML. HTML in it is escaped."""
    html = str(_parser.render(text))
    for tag, scrolling in SCROLLING.items():
        html = html.replace(tag, scrolling)
    return mark_safe(html)  # nosec


def inline_html(text: str) -> SafeString:
    """Return a text of one paragraph as HTML without the paragraph. HTML in it is escaped."""
    return mark_safe(str(_parser.renderInline(text)))  # nosec


def sections_of(text: str) -> list[tuple[str, str, SafeString]]:
    """Return anchor, title and HTML of each section that a heading of the first level begins; the first has none."""
    first, *others = re.split(r"(?m)^# (.+)\n", text)
    pairs = zip(others[::2], others[1::2], strict=True)
    return [("", "", html_of(first)), *((anchor_of(title), title, html_of(part)) for title, part in pairs)]


@cache
def coloured(code: str) -> SafeString:
    """Return code as HTML with spans around its strings, member names, numbers and words."""
    return mark_safe(TOKEN.sub(_span, escape(code)))  # nosec


def _span(found: re.Match[str]) -> str:
    if found["text"]:
        return f'<span class="{"n" if found["colon"] else "s"}">{found["text"]}</span>{found["colon"] or ""}'
    kind = "d" if found["number"] else "w"
    return f'<span class="{kind}">{found[0]}</span>'

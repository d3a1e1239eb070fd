"""The document's Markdown as HTML."""

import re

from django.utils.safestring import SafeString, mark_safe

from payments.api.guides.markdown import PARSER, anchor_of, render


def html_of(text: str) -> SafeString:
    """Return a text of several paragraphs as HTML. HTML in it is escaped."""
    return mark_safe(render(PARSER.parse(text)))  # nosec


def inline_html(text: str) -> SafeString:
    """Return a text of one paragraph as HTML without the paragraph. HTML in it is escaped."""
    return mark_safe(str(PARSER.renderInline(text)))  # nosec


def sections_of(text: str) -> list[tuple[str, str, SafeString]]:
    """Return anchor, title and HTML of each section that a heading of the first level begins; the first has none."""
    first, *others = re.split(r"(?m)^# (.+)\n", text)
    pairs = zip(others[::2], others[1::2], strict=True)
    return [("", "", html_of(first)), *((anchor_of(title), title, html_of(part)) for title, part in pairs)]

"""What a page says without asking for its translation."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any
from unittest.mock import patch

from django.utils import translation

# Of these elements the text is data or a program.
NOT_READ = {"script", "style", "code", "pre", "time", "textarea", "kbd", "svg"}
SPOKEN = ("title", "placeholder", "aria-label", "alt")
WORD = re.compile(r"[A-Za-z]{3,}")
MARKED = re.compile(r"⟦[^⟦⟧]*⟧")


@contextmanager
def marked_texts() -> Iterator[set[str]]:
    """Have each text that is translated stand in ⟦⟧; yield the texts that were asked for."""
    asked = set[str]()

    def one(text: str) -> str:
        # A lazy text that becomes part of another is translated first.
        if "⟦" not in text:
            asked.add(str(text))
        return f"⟦{text}⟧" if text else text

    def many(single: str, plural: str, number: int) -> str:
        return one(single if number == 1 else plural)

    with (
        patch.object(translation._trans, "gettext", one),
        patch.object(translation._trans, "ngettext", many),
        patch.object(translation._trans, "pgettext", lambda _, text: one(text)),
        patch.object(translation._trans, "npgettext", lambda _, *each: many(*each)),
    ):
        yield asked


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._below: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        self.found += [given[name] or "" for name in SPOKEN if name in given]
        if tag == "input" and given.get("type") in ("submit", "button"):
            self.found.append(given.get("value") or "")
        if tag in NOT_READ:
            self._below.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._below and self._below[-1] == tag:
            self._below.pop()

    def handle_data(self, data: str) -> None:
        if not self._below:
            self.found.append(data)


def untranslated(page: str) -> set[str]:
    """Return the texts of `page`, which was made with `marked_texts`, that have words outside all marks."""
    texts = _Texts()
    texts.feed(page)
    found = set()
    for text in texts.found:
        left, before = " ".join(text.split()), ""
        while left != before:
            left, before = MARKED.sub(" ", left), left
        if WORD.search(left):
            found.add(" ".join(text.split()))
    return found

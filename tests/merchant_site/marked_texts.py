"""What the pages ask a translation for, and what they say without one."""

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any
from unittest.mock import patch

from django.utils import translation

# The elements that name things, rather than show them.
NAMING = {"th", "label", "h2", "h3", "button", "summary", "legend", "dt"}


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
        asked.add(single)
        return f"⟦{single if number == 1 else plural}⟧"

    with (
        patch.object(translation._trans, "gettext", one),
        patch.object(translation._trans, "ngettext", many),
        patch.object(translation._trans, "pgettext", lambda _, text: one(text)),
        patch.object(translation._trans, "npgettext", lambda _, *each: many(*each)),
    ):
        yield asked


class _Names(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._inside += tag in NAMING
        if self._inside == 1 and tag in NAMING:
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in NAMING

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found[-1] += data


def names_without_mark(page: str) -> set[str]:
    """Return the names that `page`, which was made with `marked_texts`, shows without asking for a translation."""
    names = _Names()
    names.feed(page)
    return {" ".join(name.split()) for name in names.found if "⟦" not in name and any(map(str.isalpha, name))}

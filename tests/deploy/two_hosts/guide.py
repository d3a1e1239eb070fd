"""The guide's way from two empty hosts to a live payment: commands, each with the host it is for, and deeds."""

import re
from dataclasses import dataclass

from tests.guides.texts import text_of

FIRST, LAST = "## Two hosts, without containers", "## What was tried"
# The beginnings of headings that say where what follows is done.
PLACES = {
    "On the database host": "database",
    "On the service host": "service",
    "On any computer": "client",
    "In the back office": "office",
}
PARTS = re.compile(r"^#+ (?P<heading>[^\n]+)$|^```sh\n(?P<code>.*?)^```$|^\d+\. \*\*(?P<title>[^*]+)\*\*", re.M | re.S)
# What the reader puts in from what was shown before, such as `src_…`.
BLANK = re.compile(r"\b((?:[a-z]+_)+)…")


@dataclass(frozen=True)
class Commands:
    """Lines for a shell of root on a host, or of anybody on a client."""

    place: str
    code: str


@dataclass(frozen=True)
class Deed:
    """Something that a person does on a page."""

    title: str


def steps() -> list[Commands | Deed]:
    """Return all steps in their order. Raises KeyError for commands below a heading that names no place."""
    guide, heading = text_of("deployment"), ""
    found: list[Commands | Deed] = []
    for part in PARTS.finditer(guide, guide.index(FIRST), guide.index(LAST)):
        if part["heading"]:
            heading = part["heading"]
        elif part["code"]:
            found.append(Commands(PLACES[re.split(r"[:,]", heading)[0]], part["code"]))
        else:
            found.append(Deed(part["title"]))
    return found


def filled_in(code: str, shown: str) -> str:
    """Return `code` with each blank filled with what was shown last in its form."""
    return BLANK.sub(lambda blank: re.findall(rf"\b{blank[1]}[0-9A-Za-z]+", shown)[-1], code)

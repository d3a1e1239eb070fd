"""Statements as trees. Those that differ in their values alone are parsed once, for parsing costs most of a watch."""

import re
from functools import cache

import sqlglot
from sqlglot import exp

TEXT = re.compile(r"'(?:[^']|'')*'")
# IDs, digests and moments: there are new ones in each request.
OF_ONE_REQUEST = re.compile(r"[0-9a-f]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}")


def tree_of(text: str) -> exp.Expression:
    """Return the tree of a statement, which holds until the next call."""
    values = [value for value in TEXT.findall(text) if OF_ONE_REQUEST.search(value)]
    places = iter(range(len(values)))

    def placed(found: re.Match[str]) -> str:
        return f"'place {next(places)}'" if OF_ONE_REQUEST.search(found[0]) else found[0]

    tree, literals = _parsed(TEXT.sub(placed, text))
    for place, value in enumerate(values):
        for literal in literals[f"place {place}"]:
            literal.set("this", value[1:-1].replace("''", "'"))
    return tree


@cache
def _parsed(text: str) -> tuple[exp.Expression, dict[str, list[exp.Expression]]]:
    """Return the tree of a statement, and its literals by their text."""
    tree, literals = sqlglot.parse_one(text, dialect="postgres"), dict[str, list[exp.Expression]]()
    for literal in tree.find_all(exp.Literal):
        literals.setdefault(literal.this, []).append(literal)
    return tree, literals

"""Every regular expression of the code base, and how it is applied."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import starmap
from pathlib import Path
from types import ModuleType
from typing import Any

from django.urls import get_resolver

from config.long_paths import MAX_PATH_CHARACTERS
from tests.contract.routes import below

ROOMS = ("config", "payments", "customers")
# What is looked into: the values of modules and classes of ours, and what they say to Django.
OPEN = (*ROOMS, "django.forms", "django.core.validators")
METHODS = {"match", "fullmatch", "search", "sub", "findall", "finditer", "split"}
ANCHORED = {"match", "fullmatch"}


@dataclass(frozen=True)
class Use:
    """A pattern, whether matches must begin at the first character wherever it is applied, and the longest text."""

    pattern: re.Pattern[Any]
    anchored: bool
    longest: int = 1_000_000


def uses() -> list[Use]:
    """All patterns: of modules and what hangs on them, of calls with a text, and of URLs."""
    applied, found = _methods_by_name(), dict[re.Pattern[Any], bool]()
    named = [pair for module in modules() for pair in _within(module.__name__, vars(module), set())]
    for name, pattern in [*named, *(("", re.compile(text)) for text in made_at_each_call())]:
        found[pattern] = found.get(pattern, True) and applied.get(name, METHODS) <= ANCHORED
    urls = {pattern.pattern.regex for _, pattern in below(get_resolver().url_patterns, "")}
    all_uses = [*starmap(Use, found.items()), *(Use(url, True, MAX_PATH_CHARACTERS) for url in urls)]
    return sorted(all_uses, key=repr)


def modules() -> Iterator[ModuleType]:
    """All of ours but migrations."""
    for room in ROOMS:
        for found in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
            if ".migrations" not in found.name:
                yield importlib.import_module(found.name)


def _within(name: str, value: Any, seen: set[int]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns in `value`, each with the name that it was found under."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif id(value) not in seen:
        seen.add(id(value))
        for inner_name, inner in _parts(name, value):
            yield from _within(inner_name, inner, seen)


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(key if isinstance(key, str) else name, inner) for key, inner in list(value.items())]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [(name, inner) for inner in value]
    kind = value if isinstance(value, type) else type(value)
    return list(getattr(value, "__dict__", {}).items()) if kind.__module__.startswith(OPEN) else []


def _methods_by_name() -> dict[str, set[str]]:
    """How the patterns of each name, be it a variable's or an attribute's, are applied anywhere."""
    found: dict[str, set[str]] = {}
    for call in calls():
        found.setdefault(_name_of(call.func.value), set()).add(call.func.attr)
    return found


def made_at_each_call() -> list[str]:
    """The texts given to `re.search` and the like. Raises AssertionError where one is not known before the call."""
    given = [call.args[0] for call in calls() if _name_of(call.func.value) == "re"]
    assert all(isinstance(text, ast.Constant) for text in given), [ast.unparse(text) for text in given]
    return [text.value for text in given]


@cache
def calls() -> list[Any]:
    """Every call of a method that a pattern has."""
    trees = [ast.walk(ast.parse(Path(str(module.__file__)).read_text())) for module in modules()]
    return [node for tree in trees for node in tree if _is_application(node)]


def _is_application(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")

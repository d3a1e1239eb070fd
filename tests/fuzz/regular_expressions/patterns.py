"""Every regular expression of the code base, and how it is applied."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from django.conf import settings
from django.urls import get_resolver

from config.http.wsgi_middleware import MAX_PATH_CHARACTERS
from payments.api.validation import parsers
from payments.sensitive_data import redaction
from payments.staff.admin_site.search_terms import TERM_MAX_LENGTH
from tests.contract.scopes.routes import below

ROOMS = ("config", "payments", "customers")
# What is looked into: the values of modules and classes of ours, and what they say to Django.
OPEN = (*ROOMS, "django.forms", "django.core.validators")
METHODS = {"match", "fullmatch", "search", "sub", "findall", "finditer", "split"}
ANCHORED = {"match", "fullmatch"}
LONGEST = 1_000_000
# By room or module, how many characters reach its patterns at most; what refuses or cuts longer texts has its tests.
BOUNDS = {
    "customers.api": parsers.MAX_BODY_BYTES,
    "payments.api": parsers.MAX_BODY_BYTES,
    "payments.sensitive_data.card_numbers": parsers.MAX_BODY_BYTES,
    "payments.sensitive_data.redaction": redaction.MAX_CHARACTERS,
    "payments.quickstart.banner": MAX_PATH_CHARACTERS,
    "customers.admin": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    "payments.admin": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    "payments.staff": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    "payments.domain.merchants.merchants": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    "payments.models.operators.reasons": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    "payments.search": TERM_MAX_LENGTH,
}


@dataclass(frozen=True)
class Use:
    """A pattern, the methods that apply it anywhere, and how long the longest text is that it gets."""

    pattern: re.Pattern[Any]
    methods: frozenset[str]
    longest: int = LONGEST

    @property
    def anchored(self) -> bool:
        """Whether matches must begin at the first character wherever it is applied."""
        return self.methods <= ANCHORED


@cache
def uses() -> list[Use]:
    """All patterns: of modules and what hangs on them, of calls with a text, and of URLs."""
    found: dict[re.Pattern[Any], Use] = {}
    for use in (use for module in modules() for use in [*_named_in(module), *_made_at_calls(module)]):
        found[use.pattern] = _both(found.get(use.pattern, use), use)
    urls = {pattern.pattern.regex for _, pattern in below(get_resolver().url_patterns, "")}
    return sorted([*found.values(), *(Use(url, frozenset(["match"]), MAX_PATH_CHARACTERS) for url in urls)], key=repr)


def _both(one: Use, other: Use) -> Use:
    return Use(one.pattern, one.methods | other.methods, max(one.longest, other.longest))


def _bound_of(module: ModuleType) -> int:
    return next((bound for room, bound in BOUNDS.items() if f"{module.__name__}.".startswith(f"{room}.")), LONGEST)


def modules() -> Iterator[ModuleType]:
    """All of ours but migrations."""
    for room in ROOMS:
        for found in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
            if ".migrations" not in found.name:
                yield importlib.import_module(found.name)


def _named_in(module: ModuleType) -> Iterator[Use]:
    for name, pattern in _within(module.__name__, vars(module), set()):
        yield Use(pattern, frozenset(_methods_by_name().get(name, METHODS)), _bound_of(module))


def _within(name: str, value: Any, seen: set[int]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Return the patterns in `value`, each with the name that it was found under."""
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


@cache
def _methods_by_name() -> dict[str, set[str]]:
    """How the patterns of each name, be it a variable's or an attribute's, are applied anywhere."""
    found: dict[str, set[str]] = {}
    for call in (call for module in modules() for call in _calls(module)):
        for name in _names_of(call.func.value):
            found.setdefault(name, set()).add(call.func.attr)
    return found


def _made_at_calls(module: ModuleType) -> Iterator[Use]:
    """Return the patterns given to `re.search` and the like. Raises AssertionError for a pattern that is computed."""
    for call in _calls(module):
        if _names_of(call.func.value) == ["re"]:
            assert isinstance(call.args[0], ast.Constant), ast.unparse(call)
            yield Use(re.compile(call.args[0].value), frozenset([call.func.attr]), _bound_of(module))


@cache
def _calls(module: ModuleType) -> list[Any]:
    """Every call of a method that a pattern has."""
    return [node for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())) if _is_application(node)]


def _is_application(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS


def _names_of(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*_names_of(node.body), *_names_of(node.orelse)]
    return [node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")]

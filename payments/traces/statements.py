"""Spans of SQL statements: which tables they read and write, and never their text or values."""

import re
import time
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from django.apps import apps

from payments.traces.spans import Side, Span, Trace, record

# The most statements of one request or sweep that have a span of their own.
MOST_SPANS = 50
MOST_TABLES = 8
_CLAUSE = re.compile(r'\b(INSERT INTO|UPDATE|DELETE FROM|FROM|JOIN) "?([a-z_0-9]+)')
_VERBS = {"INSERT INTO": "INSERT", "UPDATE": "UPDATE", "DELETE FROM": "DELETE", "FROM": "SELECT", "JOIN": "SELECT"}


class StatementSpans:
    """An execute wrapper of Django's that records a span for each of the first statements of a request or sweep."""

    def __init__(self, trace: Trace, record: Callable[[Span], object] = record) -> None:
        self.count = 0
        self._trace, self._record = trace, record

    def __call__(self, execute: Callable[..., Any], sql: str, *statement: Any) -> Any:
        self.count += 1
        if self.count > MOST_SPANS:
            return execute(sql, *statement)
        started, failed = time.time_ns(), True
        try:
            result = execute(sql, *statement)
            failed = False
            return result
        finally:
            attributes = {"db.system.name": "postgresql", "db.query.summary": summary(sql)}
            self._record(Span(self._trace, "statement", started, time.time_ns(), Side.CLIENT, attributes, failed))


@lru_cache(512)
def summary(sql: str) -> str:
    """Return what a statement does with which tables, such as `UPDATE payments_source, INSERT payments_charge`."""
    found = [f"{_VERBS[verb]} {name}" for verb, name in _CLAUSE.findall(sql) if name in _tables()]
    return ", ".join(list(dict.fromkeys(found))[:MOST_TABLES]) or "other"


@cache
def _tables() -> frozenset[str]:
    return frozenset(model._meta.db_table for model in apps.get_models(include_auto_created=True))

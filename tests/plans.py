"""How PostgreSQL reads tables for a statement."""

import json
from typing import Any

from django.db import connection

from payments.json_codecs.verbatim_json import dumps


def use_indexes() -> None:
    """Have the planner use single indexes in this transaction, however small the tables are."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")


def scans_of(sql: str) -> list[dict[str, Any]]:
    """Return the parts of the plan of `sql`, which is run for it, that read a table."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}")
        [(plan,)] = cursor.fetchall()
    # Numbers in documents are kept as they are written, and these are to be compared.
    [whole] = json.loads(plan if isinstance(plan, str) else dumps(plan))
    return _scans(whole["Plan"])


def _scans(node: dict[str, Any]) -> list[dict[str, Any]]:
    found = [node] if "Relation Name" in node else []
    for inner in node.get("Plans", []):
        found += _scans(inner)
    return found

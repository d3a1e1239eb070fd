"""Which tables of merchants a statement reaches without naming one merchant.

An engine that shards sends a statement to one server where AND-ed conditions bind the merchant of each of its tables
to one value, directly or by way of another table's; it asks every server, or refuses, for any other.
"""

from collections.abc import Iterator
from functools import cache

import sqlglot
from django.apps import apps
from sqlglot import exp

from tests.contract.scopes.statements import QUERIES, Query, conditions_on, qualify
from tests.contract.scopes.statements import tables_of as tables_in
from tests.sharding.tables import CELL, OWNER, REFERENCE

# A table by its query and its alias there.
Place = tuple[int, str]
Pair = tuple[exp.Expression, exp.Expression]


@cache
def sharded() -> frozenset[str]:
    """Return the tables of merchants."""
    owned = (
        model for model in apps.get_models() if any(field.column == OWNER for field in model._meta.concrete_fields)
    )
    return frozenset(model._meta.db_table for model in owned) - REFERENCE.keys() - CELL.keys()


@cache
def crossing(text: str) -> list[str]:
    """Return the tables of merchants that the statement does not bind to one merchant; `text` has its values in it."""
    tree = sqlglot.parse_one(text, dialect="postgres")
    queries = list(tree.find_all(*QUERIES))
    for query in queries:
        qualify(query)
    names = {(id(query), table.alias_or_name): table.name for query in queries for table in _sharded_in(query)}
    values = _values(queries, names)
    if len({value for bound in values.values() for value in bound}) > 1:
        return sorted(set(names.values()))
    return sorted({name for place, name in names.items() if place not in values})


def _sharded_in(query: Query) -> list[exp.Table]:
    return [table for table in tables_in(query) if table.name in sharded()]


def _values(queries: list[Query], names: dict[Place, str]) -> dict[Place, set[str]]:
    """Return the merchants to which each table is bound, where it is."""
    found = {
        (id(query), query.this.find(exp.Table).alias_or_name): values
        for query in queries
        if isinstance(query, exp.Insert) and (values := _inserted(query))
    }
    while True:
        more = {
            (id(query), alias): value
            for query in queries
            for place, alias in names
            if place == id(query) and (place, alias) not in found and (value := _bound(query, alias, found))
        }
        if not more:
            return found
        found |= more


def _inserted(insert: exp.Insert) -> set[str]:
    """Return the merchants of rows that are given as values."""
    columns = [column.name for column in insert.this.expressions]
    if OWNER not in columns or not isinstance(insert.expression, exp.Values):
        return set()
    place = columns.index(OWNER)
    return {_literal(row.expressions[place]) for row in insert.expression.expressions}


def _bound(query: Query, alias: str, found: dict[Place, set[str]]) -> set[str]:
    """Return the merchants to which a table is bound by a value, or by another table that is."""
    if isinstance(query, exp.Insert):
        # The rows of a query have its merchant.
        inner = query.expression
        within = [found.get((id(inner), table.alias_or_name), set()) for table in _sharded_in(inner)] if inner else []
        return within[0] if within and all(within) else set()
    for one, other in _equalities(query, alias):
        if not (isinstance(one, exp.Column) and (one.table, one.name) == (alias, OWNER)):
            continue
        if not isinstance(other, exp.Column):
            return {_literal(other)} if other.find(exp.Literal) else set()
        if other.name == OWNER and (value := _of_alias(query, other.table, found)):
            return value
    return set()


def _equalities(query: Query, alias: str) -> Iterator[Pair]:
    """Yield both directions of each equality of columns and values, and of each of a pair of rows."""
    for condition in conditions_on(query, alias):
        if isinstance(condition, exp.EQ):
            left, right = condition.this.unnest(), condition.expression.unnest()
            pairs = zip(_members(left), _members(right), strict=False)
            for one, other in pairs:
                yield one, other
                yield other, one


def _members(node: exp.Expression) -> list[exp.Expression]:
    return [each.unnest() for each in node.expressions] if isinstance(node, exp.Tuple) else [node]


def _of_alias(query: Query, alias: str, found: dict[Place, set[str]]) -> set[str]:
    """Return the merchants of the table of this alias, in the query or in one around it."""
    around: exp.Expression | None = query
    while around is not None:
        if value := found.get((id(around), alias)):
            return value
        around = around.find_ancestor(*QUERIES)
    return set()


def _literal(node: exp.Expression) -> str:
    literal = node.find(exp.Literal)
    return str(literal.this).replace("-", "") if literal else ""

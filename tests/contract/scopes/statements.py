"""Whether an SQL statement can reach rows of another merchant, or of the other mode.

A table in a statement is tied where AND-ed conditions bind it to the caller: to merchant and mode; or to rows by
their keys, and those were found that way before; or to a table beside or around it that is tied itself. The books of
the simulator, as of any provider, know references and no merchants: they are not read here.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from uuid import UUID

import sqlglot
from django.apps import apps
from django.db import connection
from sqlglot import exp

from payments.models import ApiKey, Merchant

UUID_TEXT = re.compile(r"[0-9a-f]{32}")
DASHED_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NOTHING_TO_READ = re.compile(r"BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE")
Query = exp.Select | exp.Update | exp.Delete | exp.Insert
QUERIES = (exp.Select, exp.Update, exp.Delete, exp.Insert)
API_KEYS = ApiKey._meta.db_table


@cache
def owned_tables() -> set[str]:
    """Those of merchants and of whatever hangs on them by a foreign key, however far."""
    owned: set[Any] = {Merchant}
    while more := {model for model in apps.get_models() if _parents(model) & owned} - owned:
        owned |= more
    return {model._meta.db_table for model in owned}


def _parents(model: Any) -> set[Any]:
    return {field.related_model for field in model._meta.concrete_fields if field.is_relation}


class Watch:
    """Reads every statement of one request of one key, as a wrapper around Django's execution of them.

    `loose` names each table that a statement reached without being tied to the caller, with that statement.
    """

    def __init__(self, merchant_id: UUID, livemode: bool) -> None:
        self.merchant = merchant_id.hex
        self.livemode = livemode
        self.loose: list[tuple[str, str]] = []
        # IDs (32 hex digits) of rows that tied statements have found or made.
        self.known = {self.merchant}

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        text = connection.ops.last_executed_query(context["cursor"], sql, params)
        if not NOTHING_TO_READ.match(text):
            self._read(text)
        return execute(sql, params, many, context)

    def _read(self, text: str) -> None:
        # An array of IDs that a query finds says the same as that query.
        tree = tree_of(text.replace("= ANY (ARRAY(", "IN (("))
        queries = list(tree.find_all(*QUERIES))
        for query in queries:
            qualify(query)
        for insert in tree.find_all(exp.Insert):
            self.known |= set(_cells_of(insert).get("id", []))
        loose = [table for query in queries for table in self._loose_in(query)]
        self.loose += [(table, text) for table in loose]
        if not loose and isinstance(tree, exp.Select):
            self.known |= _ids_found(text)

    def _loose_in(self, query: Query, around: set[str] | None = None) -> list[str]:
        """Return the tables that `query` itself names and that are not tied; those `around` it may tie them."""
        if isinstance(query, exp.Insert):
            return [] if self._inserts_own(query) else [query.this.this.name]
        owned = {table.alias_or_name: table.name for table in tables_of(query) if table.name in owned_tables()}
        tied = (_aliases_around(query) if around is None else around) - owned.keys()
        while more := {alias for alias in owned.keys() - tied if self._is_tied(alias, owned[alias], query, tied)}:
            tied |= more
        return [table for alias, table in owned.items() if alias not in tied]

    def _is_tied(self, alias: str, table: str, query: Query, tied: set[str]) -> bool:
        conditions = list(conditions_on(query, alias))
        ties = any(self._is_tie(condition, alias, tied) for condition in conditions)
        return (
            ties
            or self._is_scoped(alias, table, conditions)
            or _is_of_same(alias, conditions, tied)
            or _narrows(query, alias, tied)
        )

    def _is_scoped(self, alias: str, table: str, conditions: list[exp.Expression]) -> bool:
        own = any(self._binds_merchant(condition, alias) for condition in conditions)
        if table == API_KEYS:
            return own or any(_binds(condition, alias, "digest") for condition in conditions)
        in_mode = any(self._binds_mode(condition, alias) for condition in conditions)
        return (own and in_mode) or self._is_within_row_bounds(alias, conditions)

    def _binds_merchant(self, condition: exp.Expression, alias: str) -> bool:
        if isinstance(condition, exp.Or):
            # What is for all merchants, such as a block, belongs to none of them.
            either = {condition.this.unnest(), condition.expression.unnest()}
            for_all = {one for one in either if isinstance(one, exp.Is) and _is_column(one.this, alias, "merchant_id")}
            return bool(for_all) and all(self._binds_merchant(one, alias) for one in either - for_all)
        return _binds(condition, alias, "merchant_id") and _ids_in(condition.expression) == [self.merchant]

    def _binds_mode(self, condition: exp.Expression, alias: str) -> bool:
        if _binds(condition, alias, "livemode"):
            return isinstance(condition.expression, exp.Boolean) and condition.expression.this == self.livemode
        column = condition.this.unnest() if isinstance(condition, exp.Not) else condition
        return _is_column(column, alias, "livemode") and isinstance(condition, exp.Not) != self.livemode

    def _is_within_row_bounds(self, alias: str, conditions: list[exp.Expression]) -> bool:
        kinds = {type(condition) for condition in conditions if self._bounds_row(condition, alias)}
        return kinds in ({exp.LT, exp.GT}, {exp.LT, exp.GTE})

    def _bounds_row(self, condition: exp.Expression, alias: str) -> bool:
        if not isinstance(condition, exp.LT | exp.GT | exp.GTE):
            return False
        place, bound = list(condition.this.find_all(exp.Column)), condition.expression
        names = [(column.table, column.name) for column in place]
        modes = [node.this for node in bound.find_all(exp.Boolean)]
        in_place = [*names[:2], names[-1]] == [(alias, "merchant_id"), (alias, "livemode"), (alias, "id")]
        return in_place and _ids_in(bound)[:1] == [self.merchant] and modes[:1] == [self.livemode]

    def _is_tie(self, condition: exp.Expression, alias: str, tied: set[str]) -> bool:
        """Whether `condition` binds a key of `alias` to something that is known to be the caller's."""
        if isinstance(condition, exp.In) and _is_key(condition.this, alias):
            return self._is_own(condition.args.get("query"), condition.expressions)
        if not isinstance(condition, exp.EQ):
            return False
        for one, other in ((condition.this, condition.expression), (condition.expression, condition.this)):
            one, other = one.unnest(), other.unnest()
            if _is_key(one, alias) and (self._is_own(other, [other]) or _is_key_of(other, tied)):
                return True
        return False

    def _is_own(self, subquery: exp.Expression | None, values: list[exp.Expression]) -> bool:
        inner = subquery.unnest() if subquery is not None else None
        if isinstance(inner, exp.Union):
            return self._is_own(inner.this, []) and self._is_own(inner.expression, [])
        if isinstance(inner, exp.Select):
            return bool(tables_of(inner)) and not self._loose_in(inner, around=set())
        ids = [uuid for value in values for uuid in _ids_in(value)]
        return bool(ids) and len(ids) == len(values) and self.known.issuperset(ids)

    def _inserts_own(self, insert: exp.Insert) -> bool:
        """Whether the rows are the caller's, and hang on what is."""
        table, cells = insert.this.this.name, _cells_of(insert)
        if table not in owned_tables():
            return True
        own = {*cells.get("merchant_id", [])} <= {self.merchant}
        in_mode = {text[0] for text in cells.get("livemode", [])} <= {str(self.livemode).lower()[0]}
        # The ID of the request is of no row.
        columns = [name for name in cells if name.endswith("_id") and name != "request_id"]
        keys = {text for name in columns for text in cells[name]}
        return own and in_mode and self.known.issuperset(filter(UUID_TEXT.fullmatch, keys))


def _ids_found(text: str) -> set[str]:
    """Return the UUIDs in the rows of a SELECT, which is asked once more for them."""
    with connection.connection.cursor() as cursor:
        values = [value for row in cursor.execute(text) for value in row]
    found = {value.hex for value in values if isinstance(value, UUID)}
    # A key comes with the endpoints of its merchant, an array of JSON.
    arrays = [str(value) for value in values if isinstance(value, list)]
    return found | {uuid.replace("-", "") for array in arrays for uuid in DASHED_UUID.findall(array)}


def tables_of(query: Query) -> list[exp.Table]:
    """Those that the query itself names, not one within it."""
    return [table for table in query.find_all(exp.Table) if table.find_ancestor(*QUERIES) is query]


def qualify(query: Query) -> None:
    """Name the table of each column that is written without one, where the query names one table alone."""
    tables = tables_of(query)
    if len(tables) == 1:
        for column in query.find_all(exp.Column):
            if not column.table and column.find_ancestor(*QUERIES) is query:
                column.set("table", exp.to_identifier(tables[0].alias_or_name))


def _aliases_around(query: Query) -> set[str]:
    """Of the tables in the queries around this one: they are read on their own, so that here they count as tied."""
    found: set[str] = set()
    outer = query.find_ancestor(*QUERIES)
    while outer is not None:
        found |= {table.alias_or_name for table in tables_of(outer)}
        outer = outer.find_ancestor(*QUERIES)
    return found


def _is_of_same(alias: str, conditions: list[exp.Expression], tied: set[str]) -> bool:
    """Whether the rows are of the merchant and mode of a tied one, such as the key that a request is signed with."""
    equal = [condition for condition in conditions if isinstance(condition, exp.EQ)]
    same = {
        name: {
            each.expression.unnest().table
            for each in equal
            if _is_column(each.this, alias, name) and _is_of(each, name)
        }
        for name in ("merchant_id", "livemode")
    }
    return bool(same["merchant_id"] & same["livemode"] & tied)


def _is_of(condition: exp.EQ, name: str) -> bool:
    other = condition.expression.unnest()
    return isinstance(other, exp.Column) and other.name == name


def _narrows(query: Query, alias: str, tied: set[str]) -> bool:
    """Whether the query only says which rows of a tied table are meant: `tied.id IN (SELECT alias.key …)`."""
    within = query.parent.parent if isinstance(query.parent, exp.Subquery) else query.parent
    columns = [selected.unalias() for selected in query.expressions]
    return (
        isinstance(within, exp.In)
        and _is_key_of(within.this, tied)
        and len(columns) == 1
        and _is_key(columns[0], alias)
    )


def _cells_of(insert: exp.Insert) -> dict[str, list[str]]:
    """Return the values of the new rows by column."""
    names, source = [column.name for column in insert.this.expressions], insert.expression
    arrays = source.find(exp.Unnest)
    if arrays is not None:
        columns = [_text(array).strip("{}").split(",") for array in arrays.expressions]
    else:
        rows = [[_text(value) for value in row.expressions] for row in source.expressions]
        columns = [list(column) for column in zip(*rows, strict=True)]
    return dict(zip(names, columns, strict=True))


def _text(value: exp.Expression) -> str:
    """Return a literal as PostgreSQL would take it, UUIDs without dashes."""
    node = value.find(exp.Literal, exp.Boolean)
    text = "" if node is None else str(node.this)
    return text.replace("-", "") if UUID_TEXT.search(text.replace("-", "")) else text.lower()


def conditions_on(query: Query, alias: str) -> Iterator[exp.Expression]:
    """Return the conditions on the rows of `alias`; the condition of an outer join binds only the joined table."""
    where = query.args.get("where")
    if where is not None:
        yield from _conjuncts(where.this)
    for join in query.args.get("joins") or []:
        if join.args.get("on") is not None and (not join.side or join.this.alias_or_name == alias):
            yield from _conjuncts(join.args["on"])


def _conjuncts(condition: exp.Expression) -> Iterator[exp.Expression]:
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        yield from _conjuncts(inner.this)
        yield from _conjuncts(inner.expression)
    else:
        yield inner


def _is_column(node: exp.Expression, alias: str, name: str) -> bool:
    return isinstance(node, exp.Column) and (node.table, node.name) == (alias, name)


def _is_key(node: exp.Expression, alias: str) -> bool:
    """Whether the column says which row it is, or on which one it hangs; a merchant's rows are of two modes."""
    return _is_key_of(node, {alias}) and node.name != "merchant_id"


def _is_key_of(node: exp.Expression, aliases: set[str]) -> bool:
    return isinstance(node, exp.Column) and node.table in aliases and re.search(r"(\A|_)id\Z", node.name) is not None


def _binds(condition: exp.Expression, alias: str, name: str) -> bool:
    return isinstance(condition, exp.EQ) and _is_column(condition.this, alias, name)


def _ids_in(node: exp.Expression) -> list[str]:
    texts = (literal.this.replace("-", "") for literal in node.find_all(exp.Literal, bfs=False) if literal.is_string)
    return [text for text in texts if UUID_TEXT.fullmatch(text)]


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

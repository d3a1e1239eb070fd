"""Changes of one place in a module that a test should notice."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_SUMS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv}
# Methods whose keywords are conditions or values of rows: to lose one is to lose a guard.
_GUARDED = {"filter", "exclude", "update", "get", "moved_row", "update_one"}


@dataclass(frozen=True)
class Mutant:
    """One place in a function of the module at `path`, and what it is changed to."""

    path: str
    function: str
    change: str
    module: ast.Module
    place: ast.expr | ast.stmt
    replacement: ast.AST

    @property
    def source(self) -> str:
        """Return the text of the module with the change."""
        return ast.unparse(_Replaced(self.place, self.replacement).visit(copy.deepcopy(self.module)))

    def __str__(self) -> str:
        return f"{self.path}:{self.place.lineno} in {self.function}: {self.change}"


def mutants_of(root: Path, path: Path) -> Iterator[Mutant]:
    """Yield each mutant of the functions in the module at `path`, whose name is given relative to `root`."""
    tree = ast.parse(path.read_text())
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for place in _places(function):
            for change, replacement in (*_changes(place), *_without_guards(place)):
                yield Mutant(str(path.relative_to(root)), function.name, change, tree, place, replacement)


def _places(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr | ast.stmt]:
    """Yield what is executed in a function and not in one inside it; annotations are not."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.expr | ast.stmt):
            yield node
        waiting += [child for child in ast.iter_child_nodes(node) if child is not getattr(node, "annotation", None)]


def _changes(node: ast.expr | ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(left, [operator], comparators) if type(operator) in _COMPARISONS:
            other = _COMPARISONS[type(operator)]()
            yield _named(operator, other), ast.Compare(left, [other], comparators)
        case ast.BoolOp(operator, values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield _named(operator, other), ast.BoolOp(other, values)
        case ast.BinOp(left, operator, right) if type(operator) in _SUMS and not isinstance(left, ast.Constant):
            other = _SUMS[type(operator)]()
            yield _named(operator, other), ast.BinOp(left, other, right)
        case ast.UnaryOp(ast.Not(), operand):
            yield "no longer negated", operand
        case ast.Constant(int(value)):
            other = not value if isinstance(value, bool) else value + 1
            yield f"{value} to {other}", ast.Constant(other)
        case ast.If(test, body, orelse):
            yield "the other branch", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)


def _without_guards(node: ast.expr | ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Raise() | ast.Expr(ast.Call()):
            yield f"without `{ast.unparse(node)}`", ast.Pass()
        case ast.Call(ast.Attribute(attr=name), args, [_, _, *_]) if name in _GUARDED:
            for lost in node.keywords:
                yield (
                    f"without {lost.arg}",
                    ast.Call(node.func, args, [each for each in node.keywords if each is not lost]),
                )


def _named(old: ast.AST, new: ast.AST) -> str:
    return f"{type(old).__name__} to {type(new).__name__}"


class _Replaced(ast.NodeTransformer):
    """Puts `new` in the place of the node that lies where `old` lies."""

    def __init__(self, old: ast.expr | ast.stmt, new: ast.AST) -> None:
        self._key, self._new = _key(old), new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the node, or what replaces it."""
        if isinstance(node, ast.expr | ast.stmt) and _key(node) == self._key:
            return self._new
        return self.generic_visit(node)


def _key(node: ast.expr | ast.stmt) -> tuple[object, ...]:
    return type(node), node.lineno, node.col_offset, node.end_lineno, node.end_col_offset

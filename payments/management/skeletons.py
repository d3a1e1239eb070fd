"""The files of a connector that is still to be written, from the templates in `provider_skeleton`."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

TEMPLATES = Path(__file__).parent / "provider_skeleton"
SUFFIX = ".py-tpl"
NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
IMPORTS = re.compile(r"(?:^from \S+ import [^(\n]+\n)+", re.MULTILINE)


class Refused(Exception):
    """The files cannot be laid down; nothing was written. The message is for whoever asked."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is added to a table of a module, by which something new is known there."""

    path: str
    table: str
    import_line: str
    text: str


def lay_down(name: str, root: Path) -> list[Path]:
    """Writes the files of a connector `name` below `root`, its tests first, and where they are known. Returns them all.

    Raises Refused.
    """
    if NAME.fullmatch(name) is None:
        raise Refused("The name of a provider is lower-case letters, digits and single _, such as acme_pay.")
    folders = {root / "tests/providers" / name: "tests", root / "payments/providers" / name: "connector"}
    for folder in folders:
        if folder.exists():
            raise Refused(f"{folder} exists.")
    known = {root / entry.path: _with_entry(root / entry.path, entry) for entry in _entries(name)}
    made = {path: text for folder, kind in folders.items() for path, text in _filled(name, kind, folder)}
    for path, text in (made | known).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [*made, *known]


def _entries(name: str) -> list[Entry]:
    bench = f"from tests.providers.{name}.bench import {name}_bench\n"
    connector = f"from payments.providers.{name}.connector import CONNECTOR as {name.upper()}\n"
    return [
        Entry("tests/providers/contract/conftest.py", "OVER_THE_WIRE", bench, f'"{name}": {name}_bench'),
        Entry("payments/providers/registry.py", "CONNECTORS", connector, name.upper()),
    ]


def _filled(name: str, kind: str, folder: Path) -> list[tuple[Path, str]]:
    """The files for `folder`, each with its text."""
    words = {"name": name, "Name": "".join(map(str.capitalize, name.split("_")))}
    templates = sorted((TEMPLATES / kind).glob(f"*{SUFFIX}"))
    return [
        (folder / f"{template.name.removesuffix(SUFFIX)}.py", _sorted(Template(template.read_text()).substitute(words)))
        for template in templates
    ]


def _with_entry(path: Path, entry: Entry) -> str:
    """The module at `path` with one entry more in its table. Raises Refused where there is no such table."""
    text = path.read_text(encoding="utf-8")
    table = _table(text, entry.table)
    if table is None or table.end_lineno is None or table.end_col_offset is None:
        raise Refused(f"{path} has no table {entry.table} to add to.")
    end = sum(map(len, text.splitlines(keepends=True)[: table.end_lineno - 1])) + table.end_col_offset - 1
    is_one_line = table.lineno == table.end_lineno
    added = f", {entry.text}" if is_one_line else f"    {entry.text},\n"
    return _sorted(_with_import(text[:end] + added + text[end:], entry.import_line))


def _table(text: str, name: str) -> ast.expr | None:
    """The dictionary of this name, or the tuple that it is made from; None where there is none."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
            value = node.value.generators[0].iter if isinstance(node.value, ast.DictComp) else node.value
            return value if isinstance(value, ast.Dict | ast.Tuple) else None
    return None


def _with_import(text: str, line: str) -> str:
    """The text with an import more, beside the first of the same package."""
    lines = text.splitlines(keepends=True)
    package = line[: line.index(".") + 1]
    beside = next((number for number, other in enumerate(lines) if other.startswith(package)), len(lines))
    return "".join([*lines[:beside], line, *lines[beside:]])


def _sorted(text: str) -> str:
    """The text with its imports in order, whatever the name in them is."""
    return IMPORTS.sub(lambda block: "".join(sorted(block[0].splitlines(keepends=True))), text)

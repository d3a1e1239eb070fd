"""What a release promises to keep is as it was released: its migrations, and what others load of it."""

import ast
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FREEZE = runpy.run_path(str(ROOT / ".ci" / "freeze.py"))
FIRST = "payments/migrations/0001_initial.py"
# What migrations may name of the product, because these names stay, and why a change behind them changes no database.
STAYS = {
    "payments.clock": "the default of a moment, which only Python knows",
    "payments.ids": "the default of an ID, which only Python knows",
    "payments.models.operators.reasons": "a validator, which only Python knows",
    "payments.models.books.report_upload": "the default of a moment, which only Python knows",
    "payments.db.fields": "types of columns: tests/upgrades/test_schema.py",
    "payments.models.search_entry": "a type of column: tests/upgrades/test_schema.py",
    "payments.db.checks": "rules of rows: tests/upgrades/test_schema.py",
}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Return a copy of what is frozen, with its hashes."""
    for path in (FREEZE["FROZEN"], *FREEZE["frozen"](ROOT)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def faults(root: Path) -> list[str]:
    return list(FREEZE["faults"](root, FREEZE["frozen"](root)))


def test_nothing_that_is_frozen_was_changed() -> None:
    assert faults(ROOT) == []


def test_a_changed_an_emptied_and_a_missing_file_are_refused(release: Path) -> None:
    changed, emptied, missing = FIRST, "payments/migrations/sql/ledger.sql", "customers/migrations/0001_initial.py"
    (release / changed).write_bytes((ROOT / changed).read_bytes() + b"#\n")
    (release / emptied).write_bytes(b"")
    (release / missing).unlink()
    assert [fault.split(". ")[0] for fault in faults(release)] == [
        f"{missing} is frozen and is missing",
        f"{changed} is frozen and was changed",
        f"{emptied} is frozen and was changed",
    ]
    assert all(fault.endswith("leave it as it was released, and add a migration.") for fault in faults(release))


def test_a_new_migration_is_frozen_by_the_next_release_and_what_was_frozen_stays(release: Path) -> None:
    new, before = "payments/migrations/0099_new.py", FREEZE["frozen"](release)
    (release / new).write_text("# A migration that no release has yet.\n")
    (release / FIRST).write_text("")
    assert len(faults(release)) == 1
    FREEZE["main"](release)
    after = FREEZE["frozen"](release)
    assert after.keys() - before.keys() == {new}
    assert len(faults(release)) == 1
    FREEZE["main"](release, "--again")
    assert faults(release) == []


def test_migrations_name_nothing_of_the_product_that_may_change() -> None:
    named = {module for path in FREEZE["migrations"](ROOT) if path.endswith(".py") for module in imported(ROOT / path)}
    assert named == STAYS.keys()


def imported(file: Path) -> Iterator[str]:
    """Yield the modules of the product that a migration imports, other than parts of migrations."""
    for node in ast.walk(ast.parse(file.read_text())):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        ours = (name for name in names if name.split(".")[0] in ("payments", "customers", "config"))
        yield from (name for name in ours if not name.startswith("payments.migrations"))

"""The rules of the house that a machine can check."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOP_LEVEL = {
    "manage.py",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "requirements.lock",
    "config",
    "payments",
    "customers",
    "templates",
    "tests",
}


def test_imports_point_down_only() -> None:
    """The contracts stand in pyproject.toml."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    result = subprocess.run([*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_the_top_level_holds_what_it_should_and_nothing_else() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.partition("/")[0] for line in tracked.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL


def test_every_pinned_version_stands_in_the_lock_and_in_the_constraints() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    constrained = {pin.partition(";")[0].strip() for pin in project["tool"]["uv"]["constraint-dependencies"]}
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    locked = {line.partition(" ")[0].rstrip("\\") for line in lock if "==" in line and not line.startswith(" ")}
    assert constrained == {pin.strip() for pin in locked}


def test_no_file_names_a_package_index() -> None:
    for name in ("pyproject.toml", "requirements.lock"):
        text = (ROOT / name).read_text()
        assert "https://" not in text
        assert "index-url" not in text

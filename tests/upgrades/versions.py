"""A release as it was dumped, and two versions of kaha: its own, and the present one with a step of a later one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from payments.embedded.folders import PROJECT

PARTS = ("config", "customers", "payments", "templates")
# Its number is read from the second.
FILES = ("manage.py", "pyproject.toml")
# What a later version may do while the one before serves: a column that is null, and an index that locks nothing.
EXPAND = """
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("payments", "{leaf}")]
    operations = [
        migrations.AddField("charge", "colour", models.TextField(null=True)),
        AddIndexConcurrently("charge", models.Index(fields=["colour"], name="charge_colour")),
    ]
"""
# What no version may do that comes right after one which writes the column.
CONTRACT = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("payments", "{leaf}")]
    operations = [migrations.RemoveField("charge", "description")]
"""


@dataclass(frozen=True)
class Release:
    """What is known of a dump, and the address of the database that it was restored into."""

    dump: Path
    known: dict[str, Any]
    url: str

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment in which a version works on the database."""
        return {**os.environ, **self.known["environment"], "DATABASE_URL": self.url}


@dataclass(frozen=True)
class Version:
    """A tree of kaha, run in an environment."""

    folder: Path
    environment: Mapping[str, str]

    def manage(self, *arguments: object) -> str:
        """Run a command, and return what it prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            cwd=self.folder,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def add_migration(self, text: str) -> None:
        """Put a migration after the last one."""
        folder = self.folder / "payments" / "migrations"
        leaf = sorted(file.stem for file in folder.glob("[0-9]*.py"))[-1]
        (folder / f"{int(leaf[:4]) + 1:04}_in_a_test.py").write_text(text.format(leaf=leaf))


def released(dump: Path, folder: Path) -> Path:
    """Return the tree of the commit that brought a dump as it is; the present one where it is not committed yet."""
    commit, is_shallow = _git("log", "-1", "--format=%H", "--", dump), _git("rev-parse", "--is-shallow-repository")
    assert is_shallow, "git refuses this folder, so it cannot say which code made the dump."
    if _git("status", "--porcelain", "--", dump) or is_shallow == "true":
        # pytest keeps what is printed; who reads the log must see that nothing older was upgraded.
        print(
            f"\nNo commit here made {dump.name}: the present version is the old one and the new one.",
            file=sys.__stderr__,
        )
        return PROJECT
    assert commit, f"git has no commit for {dump.name}."
    folder.mkdir()
    archive = ["git", "archive", commit, *FILES, *PARTS]
    packed = subprocess.run(archive, cwd=PROJECT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "--extract", "--directory", folder], check=True, input=packed)
    return folder


def copied(folder: Path) -> Path:
    """Return a copy of the present tree."""
    for part in PARTS:
        shutil.copytree(PROJECT / part, folder / part)
    for file in FILES:
        shutil.copy(PROJECT / file, folder)
    return folder


def _git(*arguments: object) -> str:
    command = ["git", *map(str, arguments)]
    return subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True).stdout.strip()

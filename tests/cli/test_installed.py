"""`kaha` as a merchant's developer installs it: by pip, in an environment that has no Django."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guides.texts import ROOT, blocks_of

pytestmark = pytest.mark.long


def test_it_is_installed_without_django_and_runs(tmp_path: Path) -> None:
    # A copy, for pip builds inside the folder that it is given.
    shutil.copytree(ROOT / "payments" / "cli", tmp_path / "payments" / "cli")
    subprocess.run([sys.executable, "-m", "venv", "environment"], cwd=tmp_path, check=True)
    programs = tmp_path / "environment" / "bin"
    [shown] = [block.code for block in blocks_of("templates/guides/command-line.md") if "pip install" in block.code]
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-euc", shown], cwd=tmp_path, env=environment, check=True)

    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=tmp_path, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
        )

    assert run(programs / "python", "-c", "import django").returncode != 0
    assert run(programs / "python", "-c", "import payments.models").returncode != 0
    assert run(programs / "kaha", "--version").stdout.startswith("kaha, version ")
    for command in (["listen"], ["trigger"], ["events", "tail"], ["logs", "tail"], ["charges", "create"], ["login"]):
        assert "Example:" in run(programs / "kaha", *command, "--help").stdout

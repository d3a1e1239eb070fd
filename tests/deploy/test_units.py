"""The units of systemd, as systemd reads them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from payments.embedded.folders import PROJECT

FOLDER = PROJECT / "config" / "deploy"
UNITS = sorted((FOLDER / "systemd").glob("*.service"))


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """Return the units with programs that are there: systemd misses those of an installation."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd is installed (Debian: systemd)")
    copies = []
    for unit in UNITS:
        text = unit.read_text()
        for program in ("python", "celery"):
            text = text.replace(f"/opt/kaha/venv/bin/{program}", "/bin/true")
        copies.append(tmp_path / unit.name)
        copies[-1].write_text(text.replace("User=kaha", "User=daemon").replace("Group=kaha", "Group=daemon"))
    return copies


@pytest.mark.tools
def test_systemd_finds_no_fault_in_the_units(units: list[Path]) -> None:
    assert len(units) == 3
    verified = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")


@pytest.mark.tools
def test_systemd_calls_each_unit_safe(units: list[Path]) -> None:
    for unit in units:
        command = ["systemd-analyze", "security", "--offline=true", "--threshold=25", unit]
        rated = subprocess.run(command, capture_output=True, text=True, check=False)
        assert rated.returncode == 0, rated.stdout[-1500:]


def test_commands_have_the_same_secrets_and_settings_as_every_unit() -> None:
    command = (FOLDER / "kaha-manage").read_text()
    [secrets] = re.findall(r"^for secret in (.+); do$", command, re.MULTILINE)
    [settings] = re.findall(r"^export (TRUSTED_PROXIES=.+)$", command, re.MULTILINE)
    for unit in UNITS:
        assert re.findall(r"LoadCredential=(\w+)", unit.read_text()) == secrets.split()
        assert f"Environment={settings}" in unit.read_text().splitlines()

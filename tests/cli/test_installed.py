"""`kaha` as a merchant's developer installs it: by the guide's line, from the service, on a machine without Django."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.test import Client

from payments.api.guides.command_line import PROJECT, build
from tests.cli.conftest import Service
from tests.guides.texts import blocks_of, text_of

[LINE] = [block.code for block in blocks_of("templates/guides/command-line.md") if "pip install" in block.code]
[PATH] = re.findall(r"/cli/kaha_cli-\S+\.whl", text_of("command-line"))


def run(home: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=home, env={"HOME": str(home)}, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_the_guides_line_installs_it_from_the_service_and_it_runs(service: Service, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("UV_TOOL", "VIRTUAL_ENV"))}
    environment |= {"HOME": str(tmp_path), "KAHA_URL": service.url}
    subprocess.run(["bash", "-euc", LINE], cwd=tmp_path, env=environment, check=True, timeout=300)
    assert run(tmp_path, tmp_path / ".local/bin/kaha", "--version").stdout.startswith("kaha, version ")


@pytest.mark.long
def test_the_wheel_is_installed_in_a_fresh_environment_without_django_and_runs(
    service: Service, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "environment"], check=True)
    programs = tmp_path / "environment" / "bin"
    subprocess.run([programs / "pip", "install", "-q", f"{service.url}{PATH}"], check=True, timeout=300)
    assert run(tmp_path, programs / "python", "-c", "import django").returncode != 0
    assert run(tmp_path, programs / "python", "-c", "import payments.models").returncode != 0
    for command in (["listen"], ["check-receiver"], ["events", "tail"], ["charges", "create"], ["login"]):
        assert "Example:" in run(tmp_path, programs / "kaha", *command, "--help").stdout
    assert run(tmp_path, programs / "pip", "check").returncode == 0


@pytest.mark.django_db
def test_the_guides_wheel_is_served_to_everybody_for_a_long_time() -> None:
    response = Client().get(PATH)
    assert (response.status_code, response["Cache-Control"]) == (200, "public, max-age=604800")
    assert Client().get(PATH, headers={"If-None-Match": response["ETag"]}).status_code == 304
    assert Client().post(PATH).status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "kaha_cli-0.0.1-py3-none-any.whl", "pyproject.toml"])
def test_another_name_is_answered_with_that_of_the_wheel(name: str) -> None:
    response = Client().get(f"/cli/{name}")
    assert (response.status_code, response.content.decode()) == (404, f"This service offers {PATH}\n")


def test_the_wheel_has_every_module_and_a_record_of_each_file() -> None:
    with zipfile.ZipFile(BytesIO(build(PROJECT).content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    modules = {module.relative_to(PROJECT).as_posix() for module in PROJECT.glob("kaha_cli/**/*.py")}
    assert {name for name in files if name.endswith(".py")} == modules
    [record] = [name for name in files if name.endswith("/RECORD")]
    for line in files[record].decode().splitlines():
        name, digest, size = line.split(",")
        if name != record:
            found = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={found}", str(len(files[name])))
    assert len(files[record].decode().splitlines()) == len(files)


def test_the_wheel_is_the_same_wherever_and_whenever_it_is_made(tmp_path: Path) -> None:
    shutil.copytree(PROJECT, tmp_path / "cli", copy_function=shutil.copyfile)
    assert build(tmp_path / "cli") == build(PROJECT)

"""The guide's typed clients: generated, checked and used by its commands as they stand, on a real server."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.guides.texts import ROOT, Block, blocks_of, differences
from tests.support.web import web_server

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]

BLOCKS = blocks_of("templates/guides/generated-clients.md")
PACKAGES = ROOT / ".ci" / "generated-clients"
[PRINTED] = [block.code for block in BLOCKS if block.language == "text"]


@dataclass
class Reader:
    """Somebody who follows the guide in a folder of their own, against a server that runs."""

    folder: Path
    environment: dict[str, str]

    def run(self, code: str) -> str:
        """Run a block of the guide; return what it prints. It must succeed without a warning."""
        done = self.tried("bash", "-euo", "pipefail", "-c", code)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        # It speaks of the machine's own settings.
        lines = [line for line in output.splitlines() if not line.startswith("npm warn Unknown user config")]
        assert [line for line in lines if "warn" in line.lower() or "deprecat" in line.lower()] == []
        return done.stdout

    def tried(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300
        )

    def write(self, block: Block) -> Path:
        """Write a program of the guide to the file that its first line names."""
        file = self.folder / block.code.splitlines()[0].split()[1]
        file.write_text(block.code)
        return file


@pytest.fixture
def reader(shop: NewMerchant, tmp_path: Path) -> Iterator[Reader]:
    with web_server(tmp_path, workers=1) as url:
        yield Reader(tmp_path, os.environ | {"KAHA_URL": url, "KAHA_KEY": shop.keys["sk_test"]})


@pytest.fixture
def python_reader(reader: Reader) -> Reader:
    """Return a reader in a virtual environment, whose uv takes the versions that we have pinned."""
    if shutil.which("uvx") is None:
        pytest.skip("no uv is installed")
    venv.create(reader.folder / "venv", with_pip=False)
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["constraint-dependencies"]
    constraints = reader.folder / "constraints.txt"
    constraints.write_text("\n".join(pins))
    reader.environment |= {name: str(constraints) for name in ("UV_CONSTRAINT", "UV_BUILD_CONSTRAINT")}
    reader.environment |= {
        "VIRTUAL_ENV": str(reader.folder / "venv"),
        "PATH": f"{reader.folder / 'venv' / 'bin'}:{os.environ['PATH']}",
    }
    return reader


@pytest.fixture
def node_reader(reader: Reader) -> Reader:
    """Return a reader whose npm takes the versions that we have pinned."""
    if shutil.which("npm") is None:
        pytest.skip("no npm is installed")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PACKAGES / name, reader.folder)
    return reader


def part(language: str) -> tuple[str, Block, str]:
    """Return the guide's commands that generate a client, the program in `language`, and the commands that run it."""
    [place] = [place for place, block in enumerate(BLOCKS) if block.language == language]
    generate, program, run = BLOCKS[place - 1 : place + 2]
    assert (generate.language, run.language) == ("sh", "sh")
    return generate.code, program, run.code


def test_the_client_for_python_takes_a_payment(python_reader: Reader) -> None:
    generate, program, run = part("python")
    python_reader.run(generate)
    file = python_reader.write(program)
    printed = python_reader.run(run)
    assert differences(PRINTED, printed) == []
    assert "Sari Store" in printed

    interpreter = str(python_reader.folder / "venv" / "bin" / "python")
    # Of no file that lies in a folder above.
    mypy = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--python-executable", interpreter]
    checked = python_reader.tried(*mypy, file.name, "kaha-api-client/kaha_api_client")
    assert checked.returncode == 0, checked.stdout
    file.write_text(program.code.replace("125_000", '"125_000"'))
    assert "incompatible type" in python_reader.tried(*mypy, file.name).stdout


def test_the_client_for_typescript_takes_a_payment(node_reader: Reader) -> None:
    generate, program, run = part("typescript")
    node_reader.run(generate)
    assert versions(node_reader.folder) == versions(PACKAGES), "those of the guide are those that are pinned"
    file = node_reader.write(program)
    printed = node_reader.run(run)
    assert differences(PRINTED, printed) == []
    assert "Sari Store" in printed

    file.write_text(program.code.replace("125_000", '"125_000"'))
    # The client's own types were checked above.
    program_alone = run.replace("npx tsc", "node_modules/.bin/tsc --skipLibCheck")
    assert "Type 'string' is not assignable to type 'number'" in node_reader.tried("bash", "-c", program_alone).stdout


def versions(folder: Path) -> dict[str, str]:
    """Return the version of each package in the lock file of `folder`."""
    packages = json.loads((folder / "package-lock.json").read_text())["packages"]
    return {name: package["version"] for name, package in packages.items() if name}

"""The shops that the guide shows, run as they are shown, pass a rehearsal with each kind of buyer."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from kaha_cli.rehearse.buyers import KINDS

from tests.cli.conftest import Service
from tests.cli.rehearse.conftest import SECRET, Terminal
from tests.guides.texts import blocks_of
from tests.support.processes import free_port, listens, running

pytestmark = pytest.mark.long
GUIDE = "templates/guides/rehearse.md"
BUYERS = str(len(KINDS))


def command_of(language: str, file: Path, port: int) -> list[str]:
    """Return how a shop is started."""
    php = ["php", "-S", f"127.0.0.1:{port}", str(file)]
    return {"python": [sys.executable, str(file)], "js": ["node", str(file)], "php": php}[language]


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("python", "shop.py"),
        pytest.param("js", "shop.mjs", marks=pytest.mark.tools),
        pytest.param("php", "shop.php", marks=pytest.mark.tools),
    ],
)
def test_a_shop_of_the_guide_passes(
    language: str, name: str, service: Service, terminal: Terminal, tmp_path: Path
) -> None:
    port, key = free_port(), service.new_merchant_key()
    command = command_of(language, tmp_path / name, port)
    assert shutil.which(command[0]), f"{command[0]} is not installed"
    [code] = [block.code for block in blocks_of(GUIDE) if block.language == language]
    (tmp_path / name).write_text(code)
    secrets = {"KAHA_KEY": key, "KAHA_WEBHOOK_SECRET": SECRET}
    environment = os.environ | secrets | {"KAHA_URL": service.url, "PORT": str(port)}
    files = {"log": tmp_path / "errors", "output": tmp_path / "output"}
    with running(command, **files, ready=lambda: listens(port), environment=environment, cwd=tmp_path):
        terminal.variables |= secrets
        places = {"begin": "buy", "orders": "orders.json", "receiver": "webhooks"}
        options = [part for each, path in places.items() for part in (f"--{each}", f"http://127.0.0.1:{port}/{path}")]
        done = terminal.run("rehearse", *options, "--buyers", BUYERS)
    assert done.code == 0, done.out + done.err

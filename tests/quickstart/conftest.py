"""Data folders that PostgreSQL's own user reaches, with nothing of them left afterwards."""

import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from payments.embedded.folders import SYSTEM_FOLDER


@pytest.fixture(scope="module")
def data() -> Generator[Path]:
    """Yield a data folder that does not exist yet, in a folder open to all."""
    with tempfile.TemporaryDirectory(prefix="kaha-test-") as parent:
        Path(parent).chmod(0o711)
        data = Path(parent) / "data"
        yield data
        remove_linked_folders(data)


@pytest.fixture
def closed_data() -> Generator[Path]:
    """Yield a data folder that does not exist yet, in a folder that only we may enter."""
    with tempfile.TemporaryDirectory(prefix="kaha-test-") as parent:
        data = Path(parent) / "data"
        yield data
        remove_linked_folders(data)


def remove_linked_folders(data: Path) -> None:
    """Remove the folders that the links in a data folder point to."""
    for link in data.glob("*"):
        target = link.resolve()
        if link.is_symlink() and (target.parent == SYSTEM_FOLDER or target.name.startswith("kaha-")):
            shutil.rmtree(target)

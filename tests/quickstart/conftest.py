"""Data folders of which nothing is left afterwards."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.postgres import data_folder


@pytest.fixture(scope="module")
def data() -> Generator[Path]:
    """Yield a data folder that does not exist yet, in a folder open to all."""
    with data_folder() as data:
        yield data


@pytest.fixture
def closed_data() -> Generator[Path]:
    """Yield a data folder that does not exist yet, in a folder that only we may enter."""
    with data_folder(0o700) as data:
        yield data

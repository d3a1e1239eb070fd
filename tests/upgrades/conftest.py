"""A dump of a release, restored into a database of its own on the suite's server."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.dumps import database
from tests.upgrades.release import FOLDER
from tests.upgrades.versions import Release

DUMPS = sorted(FOLDER.glob("*.sql.gz"))


@pytest.fixture(params=DUMPS, ids=lambda dump: dump.name.removesuffix(".sql.gz"))
def release(request: Any, db: None) -> Iterator[Release]:
    """Yield each release, restored; the suite's own database has made the role that it names."""
    dump = request.param
    known = json.loads(dump.with_name(dump.name.replace(".sql.gz", ".json")).read_text())
    with database("released", gzip.decompress(dump.read_bytes()).decode()) as url:
        yield Release(dump, known, url)

"""A database that was upgraded from a release is the same as a new one, whatever made its tables."""

import pytest

from payments.embedded.folders import PROJECT
from tests.support.dumps import database, dump_of
from tests.support.worker import database_url
from tests.upgrades.versions import Release, Version

pytestmark = pytest.mark.long
# Months and days are named by when the database was made.
WITHOUT_MONTHS = ("--schema-only", "--exclude-table=*_20[0-9][0-9]_*")


def test_a_release_that_was_upgraded_has_the_schema_of_a_new_database(release: Release) -> None:
    Version(PROJECT, release.environment).manage("migrate")
    assert schema_of(release.url) == schema_of(database_url())


def schema_of(url: str) -> list[str]:
    """Return the lines of the schema as they are once it was restored, which writes some conditions in other words."""
    with database("schema", dump_of(url, *WITHOUT_MONTHS)) as restored:
        return dump_of(restored, *WITHOUT_MONTHS).splitlines()

"""A plugin of pytest (`-p tests.sharding.on_planned_keys`) that puts the merchant into every key before all tests."""

from typing import Any

import pytest
from django.db import connection

from tests.sharding.plan import KEYS


@pytest.fixture(scope="session", autouse=True)
def planned_keys(django_db_setup: None, django_db_blocker: Any) -> None:
    """Change the keys of the database of this run, whose months are made after that as before."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(KEYS.read_text())

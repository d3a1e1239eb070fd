"""The time-outs of `manage.py web`, whose processes begin as copies of a command's."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from psycopg import sql

from payments.db.backend import session
from payments.embedded.folders import PROJECT
from tests.metrics.conftest import web
from tests.support.worker import database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


@pytest.fixture
def limits_of_the_role() -> Iterator[None]:
    """Set the time-outs of a request on the role, as config/deploy/pgbouncer.sql does: kaha then brings none."""
    database = connection.settings_dict
    of_role = sql.SQL("ALTER ROLE {} IN DATABASE {} ").format(
        *map(sql.Identifier, (database["USER"], database["NAME"]))
    )
    limits = {"statement_timeout": database["STATEMENT_SECONDS"] * 1000, **session.LIMITS_MILLISECONDS}
    with connection.cursor() as cursor:
        for name, value in limits.items():
            cursor.execute(of_role + sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        yield
        cursor.execute(of_role + sql.SQL("RESET ALL"))


def test_a_statement_of_a_request_may_take_what_the_settings_say(limits_of_the_role: None, tmp_path: Path) -> None:
    assert settings.DATABASES["default"]["STATEMENT_SECONDS"] == 10
    # Where its pooler brings other limits than its own a web process does not start.
    with web(tmp_path, DATABASE_POOLER="transaction"):
        pass


def test_without_time_outs_behind_a_pooler_a_web_process_does_not_start_and_names_each() -> None:
    environment = os.environ | {"DATABASE_URL": database_url(), "DATABASE_POOLER": "transaction"}
    command = [sys.executable, "-c", "import config.wsgi"]
    refused = subprocess.run(command, env=environment, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    first, *faults, _ = refused.stderr.splitlines()
    assert first == "kaha does not start:"
    assert [fault.split()[0] for fault in faults] == ["statement_timeout", *session.LIMITS_MILLISECONDS]

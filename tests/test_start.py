"""What a start of any of the programs loads."""

import os
import subprocess
import sys

import pytest

from payments.embedded.folders import PROJECT

pytestmark = pytest.mark.long

LOADED = "import sys, config.wsgi, config.celery, payments.tasks; print(*sys.modules, sep='\\n')"


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """Return the modules that both the web server and the worker have loaded before they are asked anything."""
    command = [sys.executable, "-c", LOADED]
    return set(subprocess.check_output(command, cwd=PROJECT, env=os.environ, text=True).split())


WALKED = "import gc, config.wsgi; print(len(gc.get_objects()), gc.get_freeze_count())"


def test_what_the_web_server_has_loaded_is_not_walked_by_the_garbage_collector() -> None:
    looked_at, frozen = subprocess.check_output([sys.executable, "-c", WALKED], cwd=PROJECT, text=True).split()
    assert int(looked_at) < int(frozen) / 10


COLLECTS = "import django; django.setup(); import gc; print(gc.isenabled())"


def test_a_command_collects_garbage_once_it_has_loaded() -> None:
    command = [sys.executable, "-c", COLLECTS]
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    assert subprocess.check_output(command, cwd=PROJECT, env=env, text=True) == "True\n"


def test_what_only_some_installations_need_is_not_loaded(loaded: set[str]) -> None:
    assert "hvac" not in loaded


def test_what_every_request_needs_is_loaded_before_the_first_one(loaded: set[str]) -> None:
    assert {"payments.api.charges", "payments.domain.charging.charges", "customers.api", "psycopg", "redis"} <= loaded


STARTED = """
from config.celery import app
worker = app.Worker(concurrency=8, pool="threads")
worker.on_start()
from django.db import connection
from payments.domain.bulkheads import bulkheads
print(bulkheads().providers.in_all, connection.get_connection_params()["options"].split()[1])
"""


def test_of_a_workers_threads_half_may_wait_for_providers_and_its_statements_take_longer() -> None:
    output = subprocess.check_output([sys.executable, "-c", STARTED], cwd=PROJECT, text=True)
    assert output.splitlines()[-1] == "4 statement_timeout=60000ms"


ASKED = """
import config.wsgi
from django.db import connection
from payments.domain.bulkheads import bulkheads
print(bulkheads().providers.in_all, connection.get_connection_params()["options"].split()[1])
"""


def test_of_a_web_servers_threads_most_are_shared_and_its_statements_are_short() -> None:
    output = subprocess.check_output([sys.executable, "-c", ASKED], cwd=PROJECT, text=True)
    assert output.splitlines()[-1] == "160 statement_timeout=10000ms"

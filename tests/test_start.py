"""What a start of any of the programs loads."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from payments.embedded.folders import PROJECT

pytestmark = pytest.mark.long

# What a web server is when it has loaded, and then what it and a worker have loaded.
LOADED = """
import gc, json, sys, config.wsgi
from django.db import connection
from payments.domain.bulkheads import bulkheads
walked, frozen = len(gc.get_objects()), gc.get_freeze_count()
limits = bulkheads().providers.in_all, connection.get_connection_params()["options"].split()[1]
of_web = [*sys.modules]
import config.celery, payments.tasks
print(json.dumps({"walked": walked, "frozen": frozen, "limits": limits, "of_web": of_web, "of_both": [*sys.modules]}))
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, Any]:
    """Return what the web server and the worker have loaded before they are asked anything."""
    command = [sys.executable, "-c", LOADED]
    return json.loads(subprocess.check_output(command, cwd=PROJECT, text=True))


def test_what_the_web_server_has_loaded_is_not_walked_by_the_garbage_collector(loaded: dict[str, Any]) -> None:
    assert loaded["walked"] < loaded["frozen"] / 10


COLLECTS = "import django; django.setup(); import gc; print(gc.isenabled())"


def test_a_command_collects_garbage_once_it_has_loaded() -> None:
    command = [sys.executable, "-c", COLLECTS]
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    assert subprocess.check_output(command, cwd=PROJECT, env=env, text=True) == "True\n"


def test_what_only_some_installations_need_is_not_loaded(loaded: dict[str, Any]) -> None:
    assert not {"hvac", "mcp"} & {*loaded["of_both"]}


def test_what_every_request_needs_is_loaded_before_the_first_one(loaded: dict[str, Any]) -> None:
    needed = {"payments.api.charges", "payments.domain.charging.charges", "customers.api", "psycopg", "redis"}
    assert needed <= {*loaded["of_web"]}


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


def test_of_a_web_servers_threads_most_are_shared_and_its_statements_are_short(loaded: dict[str, Any]) -> None:
    assert loaded["limits"] == [160, "statement_timeout=10000ms"]

"""A server has the packages of requirements.lock alone; Vault, assistants, traces and Sentry bring theirs."""

import re
from importlib.metadata import packages_distributions
from pathlib import Path

import httpx2
import pytest

from config.boot.extras import needs
from payments.domain.merchants.merchants import NewMerchant
from tests.mcp.assistant import Assistant
from tests.support.web import web_process
from tests.test_checks import ROOT, python
from tests.test_log_outages import charge

pytestmark = pytest.mark.long

# Python runs a module of this name at its start.
FINDER = """
from importlib.machinery import PathFinder
installed = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in {names!r} else installed(name, *more)
"""


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a process in which no package of an extra can be imported."""
    added = {
        name
        for lock in ROOT.glob("requirements-*.lock")
        for name in re.findall(r"^([\w.-]+)==", lock.read_text(), re.M)
    }
    modules = {
        module
        for module, packages in packages_distributions().items()
        if added.issuperset(package.lower().replace("_", "-") for package in packages)
    }
    assert {"hvac", "mcp", "requests", "sentry_sdk", "opentelemetry"} <= modules
    (tmp_path / "sitecustomize.py").write_text(FINDER.format(names=modules))
    return {"PYTHONPATH": str(tmp_path)}


@pytest.mark.django_db(transaction=True)
def test_a_server_without_extras_takes_payments_and_shows_the_office_and_has_no_door_for_assistants(
    bare: dict[str, str], tmp_path: Path, shop: NewMerchant
) -> None:
    with web_process(tmp_path, workers=1, **bare) as (url, _), httpx2.Client(base_url=url, timeout=60) as client:
        assert client.get("/admin/login/", follow_redirects=True).status_code == 200
        client.headers["Authorization"] = f"Bearer {Assistant(shop.merchant).text}"
        answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (404, "resource_missing")
        client.base_url, client.auth = f"{url}/v2", (shop.keys["sk_test"], "")
        assert charge(client) == (201, "succeeded")


def test_its_worker_loads_and_its_settings_are_in_order(bare: dict[str, str]) -> None:
    worker = "import config.wsgi, config.celery, payments.tasks"
    for program in (["manage.py", "check", "--deploy", "--fail-level", "WARNING"], ["-c", worker]):
        done = python(*program, **bare)
        assert done.returncode == 0, done.stderr


def test_what_is_asked_for_and_not_installed_is_refused_with_the_line_that_installs_it(bare: dict[str, str]) -> None:
    asked = {
        "VAULT_TRANSIT_URL": "https://vault.example.com:8200",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
        "SENTRY_DSN": "https://key@sentry.example.com/1",
    }
    done = python("-c", "import config.wsgi", **asked, **bare)
    for name, extra in zip(asked, ("vault", "observability", "observability"), strict=True):
        assert f"  {name} {needs(extra)}" in done.stderr.splitlines()

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from payments.management import skeletons
from payments.management.skeletons import Refused

ROOT = Path(__file__).resolve().parents[2]
LAID_DOWN = [
    "tests/providers/acme_pay/__init__.py",
    "tests/providers/acme_pay/bench.py",
    "tests/providers/acme_pay/fake.py",
    "payments/providers/acme_pay/__init__.py",
    "payments/providers/acme_pay/channels.py",
    "payments/providers/acme_pay/connector.py",
    "payments/providers/acme_pay/declines.py",
    "tests/providers/contract/conftest.py",
    "payments/providers/registry.py",
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this checkout."""
    for folder in ("config", "customers", "payments", "templates", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A Python program in the checkout."""
    command = [sys.executable, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


def texts(checkout: Path) -> dict[Path, str]:
    """What stands in each file about providers."""
    return {path: path.read_text() for path in checkout.glob("*/providers/**/*.py")}


def test_a_connector_is_laid_down_with_its_tests_first_and_the_suite_is_red_where_it_is_unwritten(
    checkout: Path,
) -> None:
    made = run(checkout, "manage.py", "new_provider", "acme_pay")
    assert made.stdout.splitlines()[: len(LAID_DOWN)] == LAID_DOWN, made.stderr
    suite = run(checkout, *("-m", "pytest", "tests/providers/contract", "-n", "0", "-k", "acme_pay and no_time"))
    assert "NotImplementedError: the request for a payment" in suite.stdout
    assert "1 failed" in suite.stdout


def test_what_is_laid_down_is_written_as_the_rest_is(checkout: Path) -> None:
    skeletons.lay_down("acme_pay", checkout)
    for check in (["check"], ["format", "--check"]):
        told = run(checkout, "-m", "ruff", *check, "--no-cache", *LAID_DOWN)
        assert told.returncode == 0, told.stdout


def test_two_connectors_are_laid_down_one_after_the_other(checkout: Path) -> None:
    for name in ("zeta", "alpha"):
        skeletons.lay_down(name, checkout)
    shown = "from payments.providers.registry import CONNECTORS; print(*CONNECTORS)"
    told = run(checkout, "manage.py", "shell", "-c", shown)
    assert told.stdout.split()[-2:] == ["zeta", "alpha"], told.stderr


@pytest.mark.parametrize("existing", ["payments/providers/acme", "tests/providers/acme"])
def test_nothing_that_exists_is_written_over(checkout: Path, existing: str) -> None:
    (checkout / existing).mkdir()
    before = texts(checkout)
    with pytest.raises(Refused, match=f"{existing} exists"):
        skeletons.lay_down("acme", checkout)
    assert texts(checkout) == before


def test_where_there_is_no_table_to_add_to_nothing_is_written(checkout: Path) -> None:
    registry = checkout / "payments" / "providers" / "registry.py"
    registry.write_text("CONNECTORS = None\n")
    before = texts(checkout)
    with pytest.raises(Refused, match="has no table CONNECTORS"):
        skeletons.lay_down("acme", checkout)
    assert texts(checkout) == before


@pytest.mark.parametrize("name", ["", "Acme", "acme-pay", "_acme", "acme__pay", "1acme", "../acme", "acme.pay"])
def test_a_name_that_code_cannot_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused, match="lower-case letters"):
        skeletons.lay_down(name, tmp_path)
    assert list(tmp_path.iterdir()) == []

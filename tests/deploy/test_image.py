"""The image that is shipped, run by the lines of the compose file: web, worker, migrations and the proxy."""

import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from payments.embedded.processes import wait_until
from tests.deploy import image
from tests.deploy.roots import debian_tar as debian_tar  # a fixture
from tests.deploy.stack import Stack

pytestmark = pytest.mark.long

LATENCY_SECONDS = 2
CARD = {"number": "4000000000003055", "exp_month": "12", "exp_year": "2034", "cvc": "123", "name": "Juan dela Cruz"}
ANSWER_LOST = "4000000000005100"


@pytest.fixture(scope="module")
def stack(debian_tar: Callable[[], Path]) -> Iterator[Stack]:
    if lacking := image.missing():
        pytest.skip(f"the image cannot be built without {', '.join(lacking)}")
    with TemporaryDirectory(prefix="kaha-stack-") as name, ExitStack() as opened:
        folder = Path(name)
        # PostgreSQL runs as a user of its own.
        folder.chmod(0o755)
        builder = image.Builder(folder, debian_tar())
        opened.callback(builder.remove)
        installation = Stack(builder.build(), folder)
        yield opened.enter_context(installation.running(SIMULATOR_LATENCY_SECONDS=str(LATENCY_SECONDS)))


@pytest.fixture(scope="module")
def key(stack: Stack) -> str:
    made = stack.run("web", "python", "manage.py", "merchant", "create", "Sari Store")
    assert made.returncode == 0, made.stderr
    found = re.search(r"sk_test_\w+", made.stdout)
    assert found
    return found[0]


def posted(stack: Stack, key: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    sent = ["-u", f"{key}:", "-H", "Content-Type: application/json", "-d", json.dumps(body)]
    answer: dict[str, Any] = json.loads(stack.curl(path, *sent).stdout)
    return answer


def charged(stack: Stack, key: str, number: str = CARD["number"]) -> dict[str, Any]:
    source = posted(stack, key, "/v2/sources/", {"type": "card", "card": {**CARD, "number": number}})
    order = {"amount": 125_000, "source": source["id"], "description": "Order 1001", "require_auth": False}
    return posted(stack, key, "/v2/charges/", order)


def test_a_payment_is_taken_through_the_proxy(stack: Stack, key: str) -> None:
    charge = charged(stack, key)
    assert (charge["status"], charge["captured"]) == ("succeeded", True)


def test_the_worker_looks_up_a_payment_whose_answer_was_lost(stack: Stack, key: str) -> None:
    charge = charged(stack, key, ANSWER_LOST)
    assert charge["status"] == "pending"

    def is_known() -> bool:
        shown = json.loads(stack.curl(f"/v2/charges/{charge['id']}", "-u", f"{key}:").stdout)
        return bool(shown["status"] == "succeeded")

    assert wait_until(is_known, 60), stack.log("worker")


def test_the_programs_have_no_rights_and_can_write_nothing_but_temporary_files(stack: Stack) -> None:
    tried = stack.run("web", "sh", "-c", "id -u; touch /tmp/file && echo temporary; touch /opt/kaha/file /etc/file")
    assert tried.stdout.split() == ["10001", "temporary"]
    assert tried.stderr.count("Read-only file system") == 2


def test_nothing_in_the_image_runs_with_the_rights_of_its_owner(stack: Stack) -> None:
    found = stack.run("web", "find", "/opt", "-xdev", "-perm", "/6000")
    assert (found.returncode, found.stdout) == (0, "")


def test_the_settings_of_the_files_pass_every_check(stack: Stack) -> None:
    checked = stack.run("web", "python", "manage.py", "check", "--deploy", "--fail-level", "WARNING")
    assert checked.returncode == 0, checked.stderr


def test_migrations_that_ran_may_run_again(stack: Stack) -> None:
    assert stack.run("migrate").returncode == 0


def test_money_is_checked_in_the_image(stack: Stack, key: str) -> None:
    charged(stack, key)
    checked = stack.run("worker", "python", "manage.py", "check_money")
    assert checked.returncode == 0, checked.stdout


def test_a_web_server_that_is_stopped_ends_the_payment_under_way(stack: Stack, key: str) -> None:
    source = posted(stack, key, "/v2/sources/", {"type": "card", "card": CARD})
    order = {"amount": 5_000, "source": source["id"], "description": "Order 1002", "require_auth": False}
    web = stack.programs["web"]
    with ThreadPoolExecutor(1) as thread:
        paying = thread.submit(posted, stack, key, "/v2/charges/", order)
        assert wait_until(lambda: is_at_the_provider(stack), 10)
        web.send(signal.SIGTERM)
        charge = paying.result(timeout=60)
    assert charge["status"] == "succeeded"
    assert web.wait() == 0
    stack.start_web(SIMULATOR_LATENCY_SECONDS=str(LATENCY_SECONDS))


def is_at_the_provider(stack: Stack) -> bool:
    query = "SELECT count(*) FROM payments_attempt WHERE state = 'open'"
    place = ["psql", "-h", str(stack.folder), "-U", "postgres", "-d", "kaha", "-Atc", query]
    return subprocess.run(place, capture_output=True, text=True, check=True).stdout.strip() != "0"

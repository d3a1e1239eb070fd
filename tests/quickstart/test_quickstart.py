"""The quickstart from the outside: what it gives a program, what it serves, and when it does not start."""

import json
import re
import signal
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

from payments.quickstart.banner import Ready, curl_lines
from tests.quickstart.quickstart_process import (
    ENVIRONMENT,
    KEYS,
    MANAGE,
    Quickstart,
    files_open_for_writing,
    manage,
    processes_of,
    sign_in,
)
from tests.support.postgres import remove_linked_folders

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[Quickstart]:
    """One that runs for the whole module, below a folder that only we may enter."""
    data = tmp_path_factory.mktemp("running") / "data"
    quickstart = Quickstart(data, "--json")
    quickstart.ready()
    yield quickstart
    quickstart.program.send(signal.SIGTERM)
    assert quickstart.ended()[0] == 0
    remove_linked_folders(data)


@pytest.fixture(scope="module")
def api(running: Quickstart) -> Generator[httpx2.Client]:
    ready = running.ready()
    with httpx2.Client(base_url=ready["api"], auth=(ready["sk_test"], "")) as client:
        yield client


def refused(*arguments: str) -> str:
    """Return what a quickstart prints that ends by itself at once."""
    command = [*MANAGE, "quickstart", *arguments]
    ended = subprocess.run(command, cwd="/", env=ENVIRONMENT, text=True, capture_output=True, check=False)
    assert ended.returncode == 1
    assert ended.stdout == ""
    return ended.stderr


def test_a_program_reads_everything_in_one_line(running: Quickstart) -> None:
    ready = running.ready()
    addresses = [ready[name].removeprefix(ready["api"]) for name in ("api", "admin", "dashboard", "docs")]
    assert addresses == ["", "/admin/", "/merchant/", "/docs"]
    assert [ready[name].split("_")[0] for name in [*KEYS, "merchant"]] == ["sk", "pk", "sk", "pk", "whsec", "mer"]
    assert running.output.count("\n") == 1


def test_it_says_each_step_before_it_is_done(running: Quickstart) -> None:
    said = re.findall(r"^kaha: (\w+ ?\w*)", running.program.errors, re.M)
    steps = ["starting", "waiting for", "preparing the", "starting the", "taking a"]
    assert [each for each in said if each in steps] == steps


def test_the_first_payment_can_be_seen_through_the_api(api: httpx2.Client) -> None:
    charge = api.get("/v2/charges/").json()["data"][-1]
    assert (charge["amount_captured"], charge["amount_refunded"]) == (125_000, 25_000)


def test_its_start_page_leads_to_a_checkout_that_any_number_of_payers_pay(running: Quickstart) -> None:
    ready = running.ready()
    with httpx2.Client(headers={"Accept": "text/html"}, follow_redirects=True) as payer:
        assert f'href="{ready["checkout"].removeprefix(ready["api"])}"' in payer.get(ready["api"]).text
        for _ in range(2):
            assert "₱215.00" in payer.post(ready["checkout"], data={"quantity-0": "1", "quantity-1": "1"}).text


@pytest.mark.parametrize(("site", "user"), [("admin", "admin"), ("dashboard", "owner")])
def test_each_site_lets_the_shown_user_in(site: str, user: str, running: Quickstart) -> None:
    ready = running.ready()
    with httpx2.Client(timeout=60) as browser:
        assert sign_in(browser, ready, site, user).status_code == 302


def test_the_docs_are_there(running: Quickstart) -> None:
    assert httpx2.get(running.ready()["docs"], timeout=60).status_code == 200


def test_a_live_key_is_of_the_same_merchant(running: Quickstart) -> None:
    ready = running.ready()
    me = httpx2.get(f"{ready['api']}/v2/me", auth=(ready["sk_live"], "")).json()
    assert (me["id"], me["pk_test_key"]) == (ready["merchant"], ready["pk_test"])


def test_the_curl_lines_take_a_payment_when_pasted(running: Quickstart) -> None:
    ready = running.ready()
    lines = curl_lines(Ready(int(ready["api"].rpartition(":")[2]), ready, {}))
    done = subprocess.run(["sh"], input="\n".join(lines), text=True, capture_output=True, check=True)
    charge, page = map(json.loads, done.stdout.splitlines())
    assert (charge["status"], charge["amount"], page["data"][0]) == ("succeeded", 50_000, charge)


def test_everything_it_writes_is_in_the_folders_it_names(running: Quickstart) -> None:
    folders = [Path(folder) for folder in running.ready()["data_dirs"]]
    written = {file for pid in processes_of(running.data) for file in files_open_for_writing(pid)}
    assert written
    assert [file for file in written if not any(file.is_relative_to(folder) for folder in folders)] == []


def test_nothing_is_wrong_with_its_money_and_its_log_says_when_it_begins(running: Quickstart) -> None:
    in_order = manage(running.data, "doctor").rpartition("In order: ")[2]
    assert "Money check" in in_order
    assert httpx2.get(f"{running.ready()['api']}/transparency").status_code == 200


def test_another_command_uses_the_same_database(running: Quickstart) -> None:
    assert running.ready()["pk_test"][-4:] in manage(running.data, "merchant", "list-keys")


def test_a_data_folder_in_use_is_one_line_that_says_by_whom(running: Quickstart) -> None:
    message = refused("--data", str(running.data), "--port", "0")
    assert message == (
        f"kaha: the data folder {running.data} is in use by process {running.ready()['pid']} (quickstart): "
        "stop that, or choose another with --data.\n"
    )


def test_a_taken_port_is_one_line_and_nothing_is_begun(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refused("--data", str(tmp_path / "data"), "--port", str(port))
    assert message == f"kaha: port {port} is taken: choose another with --port (0 picks a free one).\n"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_permission_is_one_line() -> None:
    assert re.fullmatch(r"kaha: the data folder /sys/kaha cannot be used: .*\n", refused("--data", "/sys/kaha"))

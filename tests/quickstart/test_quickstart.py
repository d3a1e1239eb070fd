"""The quickstart from the outside: what it shows, what it serves, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from payments.quickstart.banner import Ready, curl_lines
from tests.quickstart.quickstart_process import (
    ENVIRONMENT,
    MANAGE,
    Quickstart,
    files_open_for_writing,
    manage,
    processes_of,
    wait_until_nothing_runs,
)
from tests.support.postgres import remove_linked_folders

pytestmark = pytest.mark.long

KEYS = ["sk_test", "pk_test", "sk_live", "pk_live", "whsec_test"]


@dataclass(frozen=True)
class Ended:
    """A first start, read by a person and ended by Ctrl-C."""

    data: Path
    output: str
    exit_code: int


@pytest.fixture(scope="module")
def first(data: Path) -> Ended:
    quickstart = Quickstart(data)
    output = quickstart.read_until("limit=2")
    quickstart.program.send(signal.SIGINT)
    return Ended(data, output, quickstart.ended()[0])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[Quickstart]:
    """One that runs for the whole module, below a folder that only we may enter."""
    data = tmp_path_factory.mktemp("running") / "data"
    quickstart = Quickstart(data, "--json")
    quickstart.ready()
    yield quickstart
    quickstart.program.send(signal.SIGTERM)
    quickstart.ended()
    remove_linked_folders(data)


@pytest.fixture(scope="module")
def api(running: Quickstart) -> Generator[httpx.Client]:
    ready = running.ready()
    with httpx.Client(base_url=ready["api"], auth=(ready["sk_test"], "")) as client:
        yield client


def refused(*arguments: str) -> str:
    """Return what a quickstart prints that ends by itself at once."""
    command = [*MANAGE, "quickstart", *arguments]
    ended = subprocess.run(command, cwd="/", env=ENVIRONMENT, text=True, capture_output=True, check=False)
    assert ended.returncode == 1
    assert ended.stdout == ""
    return ended.stderr


def test_ctrl_c_ends_it_in_good_order(first: Ended) -> None:
    assert first.exit_code == 0


def test_a_person_is_shown_a_payment_and_what_to_do_next(first: Ended) -> None:
    for shown in (
        r"POST  /v2/sources/ +200  ",
        r"POST  /v2/charges/ +201  PHP 1,250\.00 held",
        r"POST  /v2/charges/ch_\.\.\.[0-9a-f]{6}/capture +200  PHP 1,250\.00 taken",
        r"POST  /v2/charges/ch_\.\.\.[0-9a-f]{6}/refund +200  PHP 250\.00 given back, PHP 1,000\.00 kept",
        r"GET   /v2/charges/\?limit=100 +200  1 charge so far",
        r"Start here +http://127\.0\.0\.1:\d+/\n",
        r"Back office +http://127\.0\.0\.1:\d+/admin/  user admin, password \S+",
        r"Dashboard +http://127\.0\.0\.1:\d+/merchant/  user owner, password \S+",
        r"Pay +http://127\.0\.0\.1:\d+/links/demo  card 4000 0000 0000 3055",
        rf"Data +{first.data}  everything\n",
    ):
        assert re.search(shown, first.output)


def test_nothing_is_coloured_where_nobody_looks_at_a_terminal(first: Ended) -> None:
    assert "\033" not in first.output


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_later_start_has_the_same_keys_and_leaves_no_process(
    first: Ended, number: signal.Signals, exit_code: int
) -> None:
    quickstart = Quickstart(first.data, "--json")
    ready = quickstart.ready()
    assert all(ready[name] in first.output for name in [*KEYS, "merchant", "admin_password", "owner_password"])
    quickstart.program.send(number)
    assert quickstart.ended()[0] == exit_code


def test_it_ends_with_the_process_that_started_it(first: Ended) -> None:
    quickstart = Quickstart(first.data, "--json", before=("sh", "-c", '"$@" & wait', "sh"))
    quickstart.ready()
    quickstart.program.send(signal.SIGKILL)
    wait_until_nothing_runs(first.data)


def test_it_stops_and_says_which_program_ended_by_itself(first: Ended) -> None:
    quickstart = Quickstart(first.data, "--json")
    quickstart.ready()
    [redis] = [pid for pid, command in processes_of(first.data).items() if "valkey-server" in command]
    os.kill(redis, signal.SIGKILL)
    exit_code, errors = quickstart.ended()
    assert exit_code == 1
    assert "kaha: Redis ended by itself with exit code -9. The end of" in errors


def test_a_program_reads_everything_in_one_line(running: Quickstart) -> None:
    ready = running.ready()
    addresses = [ready[name].removeprefix(ready["api"]) for name in ("api", "admin", "dashboard", "docs")]
    assert addresses == ["", "/admin/", "/merchant/", "/docs"]
    assert [ready[name].split("_")[0] for name in [*KEYS, "merchant"]] == ["sk", "pk", "sk", "pk", "whsec", "mer"]
    assert running.output.count("\n") == 1


def test_the_first_payment_can_be_seen_through_the_api(api: httpx.Client) -> None:
    charge = api.get("/v2/charges/").json()["data"][-1]
    assert (charge["amount_captured"], charge["amount_refunded"]) == (125_000, 25_000)


def test_its_start_page_leads_to_a_checkout_that_any_number_of_payers_pay(running: Quickstart) -> None:
    ready = running.ready()
    with httpx.Client(headers={"Accept": "text/html"}, follow_redirects=True) as payer:
        assert f'href="{ready["checkout"].removeprefix(ready["api"])}"' in payer.get(ready["api"]).text
        for _ in range(2):
            assert "₱215.00" in payer.post(ready["checkout"], data={"quantity-0": "1", "quantity-1": "1"}).text


@pytest.mark.parametrize(("site", "user"), [("admin", "admin"), ("dashboard", "owner")])
def test_each_site_lets_the_shown_user_in(site: str, user: str, running: Quickstart) -> None:
    ready = running.ready()
    with httpx.Client() as browser:
        browser.get(f"{ready[site]}login/")
        form = {"login": ready[f"{user}_user"], "password": ready[f"{user}_password"]}
        form["csrfmiddlewaretoken"] = browser.cookies["csrftoken"]
        assert browser.post(f"{ready[site]}login/", data=form).status_code == 302


def test_the_docs_are_there(running: Quickstart) -> None:
    assert httpx.get(running.ready()["docs"], timeout=60).status_code == 200


def test_a_live_key_is_of_the_same_merchant(running: Quickstart) -> None:
    ready = running.ready()
    me = httpx.get(f"{ready['api']}/v2/me", auth=(ready["sk_live"], "")).json()
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


def test_another_command_uses_the_same_database(running: Quickstart) -> None:
    assert running.ready()["pk_test"][-4:] in manage(running.data, "merchant", "list-keys")


def test_a_command_finds_the_data_when_nothing_runs(first: Ended) -> None:
    listed = manage(first.data, "merchant", "list-keys")
    assert re.findall(r"sk_test_[0-9a-f]*([0-9a-f]{4})\b", first.output)[0] in listed


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

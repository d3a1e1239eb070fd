"""The commands of README and guides, run by a shell against the service; their answers are as shown."""

import json
import os
import shutil
import subprocess

import pytest
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from payments.api.guides.markdown import PLACEHOLDER
from payments.domain.merchants.merchants import NewMerchant
from payments.quickstart.demo import payouts
from payments.webhooks.retry_schedule import DELAYS_SECONDS
from tests.checkout.cast import pay
from tests.client import Api, made
from tests.guides.texts import TEXTS, Block, blocks_of, differences, shown_json, text_of

# tests/deploy/two_hosts runs those of the other one, on hosts.
ON_HOSTS = "templates/guides/deployment.md"
WITH_CURL = [name for name in TEXTS if name != ON_HOSTS and any("curl" in block.code for block in blocks_of(name))]
# What the guide asks the reader to put into a variable, by the kind of object that came.
VARIABLES = {"source": "SOURCE", "charge": "CHARGE", "customer": "CUSTOMER", "checkout.session": "SESSION"}


class Terminal:
    """A reader's terminal: runs blocks as they are shown, and remembers the IDs that it is asked to."""

    def __init__(self, url: str, key: str) -> None:
        self.variables = {"KAHA_URL": url, "KAHA_KEY": key}

    def run(self, code: str) -> str:
        environment = os.environ | self.variables
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code], env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.replace("\r", "")

    def remember(self, output: str) -> None:
        answer = json.loads(output)
        if answer.get("object") in VARIABLES:
            self.variables[VARIABLES[answer["object"]]] = answer["id"]
        if answer.get("payment_status") == "unpaid":
            # As the reader is asked to, on the session's page.
            pay(answer)


@pytest.fixture
def terminal(live_server: LiveServer, shop: NewMerchant, settings: Settings) -> Terminal:
    if shutil.which("curl") is None:
        pytest.skip("no curl is installed")
    settings.PUBLIC_URL = live_server.url
    settings.KAHA_CLOCK = True
    # As the quickstart's demo shop has it, too.
    payouts.set_up(shop.merchant)
    return Terminal(live_server.url, shop.keys["sk_test"])


def test_there_are_such_guides() -> None:
    assert {"README.md", "templates/guides/first-payment.md"} <= set(WITH_CURL)


@pytest.mark.tools
@pytest.mark.parametrize("name", WITH_CURL)
@pytest.mark.django_db(transaction=True)
def test_each_command_answers_as_shown(name: str, terminal: Terminal) -> None:
    for block, after in zip(blocks_of(name), [*blocks_of(name)[1:], Block("", "")], strict=True):
        if block.language != "sh" or "curl" not in block.code:
            continue
        output = terminal.run(block.code)
        expected = after.code.replace(PLACEHOLDER, terminal.variables["KAHA_URL"])
        if after.language == "text":
            assert output == expected
            continue
        terminal.remember(output)
        shown = shown_json(expected) if after.language == "json" else {"object": "charge", "status": "succeeded"}
        assert differences(shown, json.loads(output)) == [], block.code


@pytest.mark.parametrize(
    ("shown", "actual", "faults"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, 0),
        ({"a": 1}, {"a": 2}, 1),
        ({"a": 1}, {"a": True}, 1),
        ({"a": "ch_…"}, {"a": "ch_12"}, 0),
        ({"a": "ch_…"}, {"a": "re_12"}, 1),
        ({"a": [1]}, {"a": []}, 1),
        ({"a": {"b": 1}}, {"a": {}}, 1),
    ],
)
def test_differences_are_found(shown: object, actual: object, faults: int) -> None:
    assert len(differences(shown, actual)) == faults


def test_an_event_is_as_the_guide_shows_it(api: Api) -> None:
    urls = {name: f"https://shop.example/{name}" for name in ("success", "fail", "notify")}
    body = {"amount": 50_000, "source": api.source(redirect=urls), "description": "Order 1001"}
    made(api.post("/charges/", body, key="order-1001"))
    newest = made(api.get("/events/", type="charge.succeeded"))["data"][0]
    blocks = [block.code for block in blocks_of("templates/guides/webhooks.md") if block.language == "json"]
    [shown] = [shown_json(code) for code in blocks if '"sequence"' in code]
    shown["created"] = newest["created"]
    assert differences(shown, newest) == []


def test_retries_come_when_the_guide_says() -> None:
    [line] = [line for line in text_of("webhooks").splitlines() if line.startswith("| after the one before")]
    units = {"s": 1, "min": 60, "h": 3600}
    words = [cell.split()[:2] for cell in line.strip("| ").split(" | ")[1:]]
    assert tuple(int(number) * units[unit] for number, unit in words) == (*DELAYS_SECONDS, DELAYS_SECONDS[-1])

"""`kaha endpoints`, and what is refused for what the service says, against a running kaha."""

import json
import re

import pytest
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Source, WebhookEndpoint
from tests.cli.terminal import Terminal
from tests.client import Api, made
from tests.contract.calls import ENDPOINT

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def terminal(bare_terminal: Terminal, live_server: LiveServer, shop: NewMerchant) -> Terminal:
    bare_terminal.variables |= {"KAHA_URL": live_server.url, "KAHA_KEY": shop.keys["sk_test"]}
    return bare_terminal


@pytest.fixture
def endpoint(api: Api) -> str:
    return made(api.post("/webhook_endpoints/", ENDPOINT))["id"]


def test_one_is_made_with_the_types_that_a_pattern_names_and_its_secret_is_shown(terminal: Terminal, api: Api) -> None:
    shown = terminal.run(
        "endpoints", "create", "https://shop.example/kaha", "--events", "dispute.*,payout.paid"
    ).succeeded()
    assert re.search(r"secret +whsec_\S+", shown)
    [made_one] = made(api.get("/webhook_endpoints/"))["data"]
    assert made_one["enabled_events"] == ["dispute.closed", "dispute.created", "dispute.updated", "payout.paid"]


def test_without_types_it_gets_all_of_them(terminal: Terminal) -> None:
    terminal.run("endpoints", "create", "https://shop.example/kaha").succeeded()
    assert WebhookEndpoint.objects.get().enabled_events == ["*"]


def test_they_are_listed_and_changed(terminal: Terminal, endpoint: str) -> None:
    assert f"{endpoint}  enabled  https://shop.example/events" in terminal.run("endpoints", "list").succeeded()
    terminal.run("endpoints", "update", endpoint, "--status", "paused", "--description", "Books").succeeded()
    [shown] = json.loads(terminal.run("endpoints", "list", "--json").succeeded())["data"]
    assert (shown["status"], shown["description"], shown["enabled_events"]) == ("paused", "Books", ["*"])


def test_a_rolled_secret_is_shown_and_a_deleted_endpoint_is_gone(terminal: Terminal, endpoint: str) -> None:
    assert "whsec_" in terminal.run("endpoints", "roll-secret", endpoint, "--overlap-seconds", "0").succeeded()
    assert "is deleted" in terminal.run("endpoints", "delete", endpoint).succeeded()
    assert terminal.run("endpoints", "list").succeeded() == ""


def test_what_a_receiver_did_with_a_test_event_is_printed(terminal: Terminal, endpoint: str) -> None:
    WebhookEndpoint.objects.update(url="http://10.0.0.1/")
    assert "forbidden_address" in terminal.run("endpoints", "test", endpoint).succeeded()


@pytest.mark.parametrize(
    "command",
    [
        *(
            ["listen", "--forward-to", "http://127.0.0.1:2/", "--events", types]
            for types in ("charge.exploded", "charge.failed,", "customer")
        ),
        ["events", "tail", "--type", "charge.exploded"],
        ["endpoints", "create", "https://shop.example/kaha", "--events", "charge.exploded"],
        ["trigger", "charge.exploded"],
    ],
)
def test_an_event_type_that_there_is_not_is_refused_with_those_there_are(
    command: list[str], terminal: Terminal
) -> None:
    done = terminal.run(*command)
    assert done.code == 2
    assert "source.deleted" in done.err


def test_a_card_that_is_no_test_card_is_not_sent_and_not_repeated(terminal: Terminal) -> None:
    done = terminal.run("charges", "create", "100", "--card", "4111 1111 1111 1111")
    assert (done.code, "1111" in done.err) == (2, False)
    assert "test cards" in done.err
    assert not Source.objects.exists()


def test_what_is_no_endpoint_is_not_asked_for(terminal: Terminal) -> None:
    done = terminal.run("endpoints", "delete", "ch_1")
    assert (done.code, "begins with we_" in done.err) == (2, True)

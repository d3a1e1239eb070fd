"""Cards and credentials go to the provider's own hosts and nowhere else, whatever an account's settings say."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from payments.providers import http, registry
from payments.providers.accounts import Account
from payments.providers.adyen.connector import Adyen
from payments.providers.base import NotSent
from payments.providers.http import ForeignHost, Reply
from tests.providers.adyen.bench import ACCOUNT
from tests.providers.adyen.factories import asked
from tests.support.http_server import Answered, answering

DOMAINS = ("api.example.com", "*.example.net")
FOREIGN = [
    "http://api.example.com/pay",
    "https://api.example.com:8443/pay",
    "https://user@api.example.com/pay",
    "https://evil.example/?.api.example.com",
    "https://evil.example\\@api.example.com/",
    "https://evil.example#.example.net",
    "https://api.example.com.evil.example/pay",
    "https://example.net/pay",
    "https://evilexample.net/pay",
    "https://api.example.com?next=/pay",
    "https://x\n.example.net/pay",
    "https://127.0.0.1/pay",
    "http://127.0.0.1:8000/pay",
    "/pay",
    "",
]
PREFIXES = ["evil.example/?", "evil.example#", "me@evil.example/", "evil.example\\", "127.0.0.1:8000/"]


class Recorder:
    """Stands for the network: keeps where requests were sent."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Reply:
        self.urls.append(url)
        return Reply(200, {}, b"{}")


@pytest.mark.parametrize("url", FOREIGN)
def test_an_address_elsewhere_is_refused_before_anything_is_sent(url: str) -> None:
    recorder = Recorder()
    with pytest.raises(ForeignHost):
        http.restrict(recorder.send, DOMAINS)("POST", url, {}, b"card")
    assert recorder.urls == []


@pytest.mark.parametrize(
    "url", ["https://api.example.com/pay", "https://API.example.com:443/pay?a=b", "https://a-1.b.example.net"]
)
def test_an_address_of_the_provider_is_asked(url: str) -> None:
    recorder = Recorder()
    http.restrict(recorder.send, DOMAINS)("GET", url, {})
    assert recorder.urls == [url]


def test_a_trial_address_on_loopback_is_asked_where_the_settings_name_it() -> None:
    recorder = Recorder()
    send = http.restrict(recorder.send, DOMAINS, "http://127.0.0.1:9000/v1")
    send("GET", "http://127.0.0.1:9000/v1/pay", {})
    for elsewhere in (
        "http://127.0.0.1:9001/v1/pay",
        "http://127.0.0.1:9000/v10",
        "http://127.0.0.1:9000@evil.example/",
    ):
        with pytest.raises(ForeignHost):
            send("GET", elsewhere, {})
    assert recorder.urls == ["http://127.0.0.1:9000/v1/pay"]


def test_a_base_address_elsewhere_allows_nothing_more() -> None:
    with pytest.raises(ForeignHost):
        http.restrict(Recorder().send, DOMAINS, "https://evil.example")("GET", "https://evil.example/pay", {})


@pytest.mark.parametrize("prefix", PREFIXES)
def test_no_prefix_of_a_live_account_leads_a_card_away_from_adyen(prefix: str) -> None:
    recorder = Recorder()
    live = replace(ACCOUNT, livemode=True, settings={**ACCOUNT.settings, "live_prefix": prefix})
    outcome = Adyen(live, "", recorder.send).create_payment(asked())
    assert (type(outcome), recorder.urls) == (NotSent, [])


def test_a_card_is_not_sent_to_a_listener_that_a_prefix_names() -> None:
    with answering(lambda _: Answered(200, {})) as fake:
        prefix = f"{fake.address.removeprefix('http://')}/?"
        live = replace(ACCOUNT, livemode=True, settings={**ACCOUNT.settings, "live_prefix": prefix})
        outcome = Adyen(live, "").create_payment(asked())
    assert (type(outcome), fake.requests) == (NotSent, [])


@pytest.mark.parametrize(("name", "setting"), [("adyen", "ADYEN_URL"), ("xendit", "XENDIT_URL")])
def test_every_connector_refuses_a_foreign_address_of_the_settings(settings, name: str, setting: str) -> None:
    setattr(settings, setting, "https://evil.example")
    connector = registry.CONNECTORS[name]
    credentials = {blank.name: "5A" * 16 for blank in connector.credentials}
    account = Account(True, credentials, {"merchant_account": "Kaha", "live_prefix": "kaha"})
    outcome = connector.connect(account).test_credentials()
    assert isinstance(outcome, NotSent)
    assert "provider" in outcome.why


@pytest.mark.parametrize("name", sorted(registry.CONNECTORS))
def test_every_connector_says_which_hosts_are_its_provider_s(name: str) -> None:
    assert registry.CONNECTORS[name].domains

"""What a call may use: arguments that its tool has, one place, the key's rate; and errors in words of ours."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from payments.api.views import feeds
from payments.domain import bulkheads
from payments.domain.bulkheads import Bulkheads
from payments.domain.merchants.merchants import NewMerchant
from payments.mcp import protocol
from tests.client import Api, error_of
from tests.mcp.assistant import Assistant, Failed

CARD = "4242 4242 4242 4242"


@pytest.fixture
def one_place() -> Iterator[None]:
    before = bulkheads.bulkheads()
    bulkheads.use(Bulkheads(1))
    yield
    bulkheads.use(before)


@pytest.mark.parametrize(
    ("tool", "name"), [("list_events", "wait"), ("search", "limit"), ("charge", "cvc"), ("list_asked", "status")]
)
def test_an_argument_that_a_tool_does_not_have_is_refused_by_its_name(shop: NewMerchant, tool: str, name: str) -> None:
    with pytest.raises(Failed, match=f"unknown_parameter: .*{name}"):
        Assistant(shop.merchant, ["charge"]).call(tool, **{name: 5})
    assert feeds._waiting.taken == 0


@pytest.mark.usefixtures("one_place")
def test_a_call_holds_one_place(shop: NewMerchant) -> None:
    assert Assistant(shop.merchant).call("list_charges")["data"] == []


def test_each_object_that_is_read_counts_against_the_keys_rate(shop: NewMerchant, api: Api, settings: Settings) -> None:
    assistant, charge = Assistant(shop.merchant), api.charge()
    settings.RATE_LIMIT = "2/year"
    assistant.call("retrieve_charge", id=charge["id"])
    answer = assistant.post("tools/list")
    assert (answer.status_code, error_of(answer)["data"]["code"]) == (429, "rate_limited")
    assert int(answer["Retry-After"]) > 0


def test_nothing_is_answered_in_clear_text(shop: NewMerchant, settings: Settings) -> None:
    settings.HTTPS = True
    answer = Assistant(shop.merchant).post("tools/list")
    assert (answer.status_code, error_of(answer)["data"]["code"]) == (403, "https_required")


def test_a_client_may_say_its_name_in_any_form(shop: NewMerchant) -> None:
    said = {"io.modelcontextprotocol/clientInfo": "careless"}
    sent = {"name": "list_charges", "arguments": {}, "_meta": said}
    answer = Assistant(shop.merchant).post("tools/call", sent, **{"MCP-Protocol-Version": "2025-06-18"})
    assert "result" in answer.json(), answer.content


@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18"])
@pytest.mark.parametrize("method", ["tools/list", "tools/call", f"tools/{CARD}"])
def test_no_text_of_a_failure_and_no_card_number_is_in_an_error(
    shop: NewMerchant, monkeypatch: pytest.MonkeyPatch, method: str, version: str
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("the text of a failure")

    monkeypatch.setattr(protocol, "tools_of", fail)
    monkeypatch.setattr(protocol, "call", fail)
    sent = {"name": "list_charges"} if method == "tools/call" else {}
    answer = Assistant(shop.merchant).post(method, sent, **{"MCP-Protocol-Version": version})
    assert "error" in answer.json()
    assert not [text for text in ("the text", CARD) if text in answer.content.decode()]

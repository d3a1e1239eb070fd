"""The list of tools, held against the strictest of what programs take, and what such programs send."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from payments.domain.approvals.verbs import TOOLS
from payments.domain.merchants.merchants import NewMerchant
from payments.mcp.messages import SHAPE
from payments.models import AssistantCall
from tests.cli.terminal import Terminal
from tests.client import Api, error_of
from tests.mcp.assistant import LINK, Assistant, Failed

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MEMBER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
MOST_TOOLS, LONGEST_DESCRIPTION = 128, 1024
TYPES = ("string", "integer", "boolean", "array", "object")
NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
WORDS = {"type", "description", "enum", "pattern", "properties", "required", "additionalProperties", "items", *NUMBERS}
# What some engines of regular expressions have not: looking around, references back, and classes of Unicode.
ONLY_SOME_ENGINES = re.compile(r"\(\?[=!<]|\\[1-9pPdwsDWS]")


def inner_schemas(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {**schema.get("properties", {}), **({"items": schema["items"]} if "items" in schema else {})}


def faults(where: str, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a program may refuse of a schema, at any depth."""
    wrong = {
        "a keyword": schema.keys() - WORDS,
        "not one type": schema.get("type") not in TYPES,
        "open for others": schema.get("additionalProperties", False),
        "a value that is no text": [each for each in schema.get("enum", ()) if not isinstance(each, str)],
        "a pattern of some engines only": ONLY_SOME_ENGINES.search(schema.get("pattern", "")),
        "items of what is no array, or an array of anything": ("items" in schema) != (schema.get("type") == "array"),
        "required and not declared": set(schema.get("required", ())) - schema.get("properties", {}).keys(),
        "a name": [name for name in inner_schemas(schema) if not MEMBER.fullmatch(name)],
    }
    yield from (f"{where}: {fault}: {found}" for fault, found in wrong.items() if found)
    for name, inner in inner_schemas(schema).items():
        yield from faults(f"{where}.{name}", inner)


def test_no_description_names_what_an_assistant_cannot_use(shop: NewMerchant) -> None:
    tools = Assistant(shop.merchant, TOOLS).tools()
    assert [name for name, tool in tools.items() if re.search("`(next|wait)`", json.dumps(tool))] == []
    lists = [tool for tool in tools.values() if "start_after" in tool["inputSchema"]["properties"]]
    assert len(lists) > 5
    assert [tool["name"] for tool in lists if "`more`" not in tool["description"]] == []


def test_every_program_takes_every_tool(shop: NewMerchant) -> None:
    tools = Assistant(shop.merchant, TOOLS).tools()
    assert len(tools) <= MOST_TOOLS
    assert [name for name in tools if not NAME.fullmatch(name)] == []
    assert [name for name, tool in tools.items() if len(tool["description"]) > LONGEST_DESCRIPTION] == []
    assert [name for name, tool in tools.items() if tool["inputSchema"]["type"] != "object"] == []
    assert [fault for name, tool in tools.items() for fault in faults(name, tool["inputSchema"])] == []


def test_a_filter_whose_name_has_brackets_in_the_api_works_by_its_name(shop: NewMerchant, api: Api) -> None:
    assistant, charge = Assistant(shop.merchant), api.charge()
    assert [each["id"] for each in assistant.call("list_charges", created_at_gte="2020-01-01")["data"]] == [
        charge["id"]
    ]
    assert assistant.call("list_charges", created_at_lt="2020-01-01")["data"] == []
    with pytest.raises(Failed, match=r"\Ainvalid_\w+: created_at_gte: "):
        assistant.call("list_charges", created_at_gte="yesterday")


def test_an_integer_may_be_written_as_a_double(shop: NewMerchant, api: Api) -> None:
    assistant = Assistant(shop.merchant, ["link", "refund"])
    first, second = (api.charge()["id"] for _ in range(2))
    assert [each["id"] for each in assistant.call("list_charges", limit=2.0)["data"]] == [second, first]
    with pytest.raises(Failed, match="invalid_type: limit"):
        assistant.call("list_charges", limit=2.5)
    wish = {"id": first, "idempotency_key": "w", "why": "The payer asked."}
    assert assistant.call("refund", amount=1_000.0, **wish)["amount"] == 1_000
    with pytest.raises(Failed, match="amount: "):
        assistant.call("refund", amount=1_000.5, **wish)
    item = {"name": "Halo-halo", "amount": 5_000.0, "quantity": 2.0}
    assistant.call("link", **LINK | {"line_items": [item], "metadata": {"grams": 1.0}}, idempotency_key="l", why="Yes.")
    body = AssistantCall.objects.latest("created_at").after["body"]
    assert (body["line_items"][0]["amount"], body["metadata"]) == (5_000, {"grams": 1.0})


def posted(shop: NewMerchant, body: bytes, version: str = "") -> HttpResponse:
    headers = {"Authorization": f"Bearer {Assistant(shop.merchant).text}"}
    sent = {"MCP-Protocol-Version": version} if version else {}
    return Client().post("/mcp", body, content_type="application/json", headers=headers | sent)


@pytest.mark.parametrize("version", ["", "2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("of", ["null", "1.5", "true", "[1]"])
def test_a_message_whose_id_is_none_is_refused_by_its_name(shop: NewMerchant, of: str, version: str) -> None:
    answer = posted(shop, f'{{"jsonrpc": "2.0", "id": {of}, "method": "tools/list"}}'.encode(), version)
    assert (answer.status_code, answer.json()["id"], "`id`" in error_of(answer)["message"]) == (400, None, True)


@pytest.mark.parametrize("version", ["", "2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    "body", ["", "[]", '{"jsonrpc": "1.0"}', '{"jsonrpc": "2.0", "method": 5}', '{"jsonrpc": "2.0", "result": {}}']
)
def test_what_is_no_message_is_answered_by_a_sentence(shop: NewMerchant, body: str, version: str) -> None:
    answer = posted(shop, body.encode(), version)
    assert (answer.status_code, error_of(answer)["message"]) == (400, SHAPE)


def test_an_id_may_be_a_double_and_no_arguments_an_empty_array(shop: NewMerchant) -> None:
    body = b'{"jsonrpc": "2.0", "id": 3.0, "method": "tools/call", "params": {"name": "list_charges", "arguments": []}}'
    assert (found := posted(shop, body).json())["id"] == 3
    assert found["result"]["isError"] is False


PINGS = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/cancelled"}, 5]


def test_a_list_of_messages_is_answered_in_the_versions_that_have_them(shop: NewMerchant) -> None:
    answer = posted(shop, json.dumps(PINGS).encode(), "2025-03-26")
    answers = [(each["id"], each.get("result")) for each in answer.json()]
    assert (answer.status_code, answers) == (200, [(1, {}), (None, None)])
    assert posted(shop, json.dumps(PINGS[1:2]).encode()).status_code == 202


@pytest.mark.parametrize(("version", "count"), [("2025-06-18", 1), ("2026-07-28", 1), ("2025-03-26", 21)])
def test_no_other_list_is_taken(shop: NewMerchant, version: str, count: int) -> None:
    answer = posted(shop, json.dumps(PINGS[:1] * count).encode(), version)
    assert (answer.status_code, error_of(answer)["code"]) == (400, -32600)


def test_each_message_of_a_list_counts_against_the_keys_rate(shop: NewMerchant, settings: Settings) -> None:
    settings.RATE_LIMIT = "2/year"
    assert posted(shop, json.dumps(PINGS[:1] * 3).encode()).status_code == 429


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_command_line_answers_the_same_messages(
    live_server: LiveServer, shop: NewMerchant, bare_terminal: Terminal
) -> None:
    bare_terminal.variables |= {"KAHA_URL": live_server.url, "KAHA_KEY": Assistant(shop.merchant).text}
    lines = [json.dumps(PINGS), '{"jsonrpc": "2.0", "id": null, "method": "ping"}', '{"jsonrpc": "1.0"}', "[]"]
    (bare_terminal.home / "lines").write_text("\n".join(lines))
    several, *others = map(json.loads, bare_terminal.shell("kaha mcp < lines").out.splitlines())
    assert [(each["id"], each.get("result")) for each in several] == [(1, {}), (None, None)]
    assert ["`id`" in each["error"]["message"] for each in others] == [True, False, False]
    assert SHAPE in others[1]["error"]["message"]

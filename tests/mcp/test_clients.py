"""The client of the `mcp` package, over HTTP and by `kaha mcp`, in the versions that clients speak."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from django.test import Client as Browser
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from payments.models import AssistantCall, AuditEntry
from tests.cli.terminal import Terminal
from tests.client import Api
from tests.mcp.assistant import Assistant

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]
KAHA = Path(sys.executable).with_name("kaha")


async def use(client: Client, charge: str) -> tuple[set[str], Any, Any]:
    """Return the tools, what a read says and what an asked refund does."""
    async with client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        read = await client.call_tool("retrieve_charge", {"id": charge})
        wish = {"id": charge, "amount": 1_000, "idempotency_key": "w", "why": "The payer asked."}
        return tools, read, await client.call_tool("refund", wish)


def check(found: tuple[set[str], Any, Any], charge: str) -> None:
    tools, read, asked = found
    assert {"retrieve_charge", "refund"} <= tools
    assert charge in read.content[0].text
    assert (read.is_error, asked.is_error) == (False, False), asked
    assert AssistantCall.objects.get().amount == 1_000


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_packages_client_reads_and_asks(live_server: LiveServer, shop: NewMerchant, api: Api, mode: Any) -> None:
    charge, assistant = api.charge()["id"], Assistant(shop.merchant, ["refund"])

    async def walk() -> tuple[set[str], Any, Any]:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {assistant.text}"}) as http:
            transport = streamable_http_client(f"{live_server.url}/mcp", http_client=http)
            return await use(Client(transport, mode=mode), charge)

    check(anyio.run(walk), charge)
    assert AuditEntry.objects.filter(action="called").count() == 2


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_assistant_on_a_developers_machine_does_so_by_the_command_line(
    live_server: LiveServer, shop: NewMerchant, api: Api, tmp_path: Path, mode: Any
) -> None:
    charge, assistant = api.charge()["id"], Assistant(shop.merchant, ["refund"])
    environment = {"HOME": str(tmp_path), "KAHA_URL": live_server.url, "KAHA_KEY": assistant.text}
    server = StdioServerParameters(command=str(KAHA), args=["mcp"], env=environment)

    async def walk() -> tuple[set[str], Any, Any]:
        return await use(Client(server, mode=mode), charge)

    check(anyio.run(walk), charge)


def test_the_command_line_takes_an_assistants_key_alone(
    live_server: LiveServer, shop: NewMerchant, bare_terminal: Terminal
) -> None:
    bare_terminal.variables |= {"KAHA_URL": live_server.url, "KAHA_KEY": shop.keys["sk_test"]}
    done = bare_terminal.run("mcp")
    assert (done.code, "a key of its own" in done.err) == (2, True)
    unknown = bare_terminal.run("--profile", "helper", "login", KAHA_KEY="ak_test_" + "0" * 48)
    assert (unknown.code, "key_invalid" in unknown.err) == (1, True)
    key = Assistant(shop.merchant).text
    assert "test mode" in bare_terminal.run("--profile", "helper", "login", KAHA_KEY=key).succeeded()


def test_what_cannot_be_answered_is_an_error_of_its_message(shop: NewMerchant, bare_terminal: Terminal) -> None:
    bare_terminal.variables |= {"KAHA_URL": "http://127.0.0.1:9", "KAHA_KEY": Assistant(shop.merchant).text}
    lines = r"""printf '%s\n' nothing '{"jsonrpc":"2.0","id":7,"method":"ping"}' | kaha mcp"""
    first, second = bare_terminal.shell(lines).out.splitlines()
    assert '"code":-32700' in first
    assert '"id":7' in second
    assert "cannot be reached" in second


def test_no_line_ends_the_command(live_server: LiveServer, shop: NewMerchant, bare_terminal: Terminal) -> None:
    bare_terminal.variables |= {"KAHA_URL": live_server.url, "KAHA_KEY": Assistant(shop.merchant).text}
    odd = ("[1]", '{"_meta":"x"}', "[" * 500 + "]" * 500, "[" * 5_000 + "]" * 5_000, r'"\ud83d"', "NaN", '"\xff"')
    lines = [rf'{{"jsonrpc":"2.0","id":{place},"method":"ping","params":{each}}}' for place, each in enumerate(odd)]
    (bare_terminal.home / "lines").write_bytes("\n".join(lines).encode("latin-1"))
    done = bare_terminal.shell("kaha mcp < lines")
    answers = list(map(json.loads, done.out.splitlines()))
    assert (done.code, [answer["id"] for answer in answers if "error" in answer]) == (0, [0, 1, 2, None, 4, 5, None])


def test_a_post_without_a_message_is_refused_in_the_protocols_form(shop: NewMerchant) -> None:
    headers = {"Authorization": f"Bearer {Assistant(shop.merchant).text}"}
    answer = Browser().post("/mcp", b"", content_type="text/plain", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)

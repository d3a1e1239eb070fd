"""An assistant, as its client sends it: one POST to `/mcp` for each message."""

import json
from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from django.test import Client

from payments.api.validation.payment_links import LinkInput
from payments.api.views.base import validated
from payments.domain.approvals.limits import parse_rules
from payments.domain.approvals.request import ask
from payments.domain.merchants.api_keys import create_key
from payments.domain.merchants.scopes import RIGHTS
from payments.domain.shared.verbs import Call
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import ApiKey, ApprovalRequest, Merchant
from tests.client import HANDLER

READS = tuple(right for right in RIGHTS if right.endswith(":read"))
CLIENT = {"name": "careful-client", "version": "1.0"}


ITEM = {"name": "Halo-halo", "amount": 5_000, "quantity": 2}
LINK = {
    "currency": "PHP",
    "payment_method_types": ["card"],
    "line_items": [ITEM],
    "allow_adjustable_quantity": False,
    "internal_name": "Summer",
}


class Failed(Exception):
    """A result that is an error, with its text."""


class Assistant:
    """An assistant with a key of its own: all rights to read, and these rules."""

    def __init__(
        self, merchant: Merchant, rules: Iterable[str] = (), rights: Iterable[str] = READS, *, livemode: bool = False
    ) -> None:
        kind = ApiKey.Kind.ASSISTANT
        self.key, self.text = create_key(
            merchant, livemode, kind, rights=rights, rules=parse_rules(rules), name="Bookkeeper"
        )
        self.client = Client(raise_request_exception=False)
        self.client.handler = HANDLER

    def post(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> HttpResponse:
        info = {
            "io.modelcontextprotocol/clientInfo": CLIENT,
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": info, **(params or {})}}
        sent = {
            "Authorization": f"Bearer {self.text}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "MCP-Method": method,
            **({"MCP-Name": params["name"]} if params and "name" in params else {}),
        }
        return self.client.post("/mcp", json.dumps(message), content_type="application/json", headers=sent | headers)

    def tools(self) -> dict[str, Any]:
        """Return the tools that it is shown, by name."""
        return {tool["name"]: tool for tool in self.post("tools/list").json()["result"]["tools"]}

    def raw(self, name: str, **arguments: Any) -> str:
        """Return the text of a tool's result. Raise Failed."""
        answer = self.post("tools/call", {"name": name, "arguments": arguments})
        assert answer.status_code == 200, answer.content
        result = answer.json()["result"]
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            raise Failed(text)
        return text

    def call(self, name: str, **arguments: Any) -> Any:
        """Return a tool's result. Raise Failed."""
        return json.loads(self.raw(name, **arguments))


def ask_for_a_link(merchant: Merchant) -> ApprovalRequest:
    """Return the request of a new assistant for a payment link, also where a browser's event loop runs."""
    key = Assistant(merchant, ["link"]).key
    return ask(key, Call("link", "", json.loads(to_bytes(validated(LinkInput, LINK, livemode=False)))), "w", "Summer.")

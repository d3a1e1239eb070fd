"""npm's inspector of the protocol as a client."""

import json
import os
import subprocess
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from payments.domain.merchants.merchants import NewMerchant
from payments.models import AssistantCall
from tests.client import Api
from tests.mcp.assistant import Assistant

pytestmark = [pytest.mark.tools, pytest.mark.django_db(transaction=True)]


def test_the_inspector_lists_tools_reads_and_asks(live_server: LiveServer, shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge()["id"], Assistant(shop.merchant, ["refund"])

    def inspect(*arguments: str) -> Any:
        of_server = ["--cli", f"{live_server.url}/mcp", "--header", f"Authorization: Bearer {assistant.text}"]
        command = [os.environ["INSPECTOR"], *of_server, "--method", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert {"retrieve_charge", "refund"} <= {tool["name"] for tool in inspect("tools/list")["tools"]}
    read = inspect("tools/call", "--tool-name", "retrieve_charge", "--tool-arg", f"id={charge}")
    assert charge in read["content"][0]["text"]
    wish = (f"id={charge}", "amount=1000", "idempotency_key=w", "why=The payer asked.")
    asked = inspect("tools/call", "--tool-name", "refund", "--tool-arg", *wish)
    assert json.loads(asked["content"][0]["text"])["status"] == "proposed"
    assert AssistantCall.objects.get().amount == 1_000

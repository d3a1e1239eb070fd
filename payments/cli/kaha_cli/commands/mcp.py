"""`kaha mcp`: an assistant on this machine, connected to kaha by standard input and output."""

import json
import sys
from typing import Any

import click

from kaha_cli.client import Client
from kaha_cli.command import example, until_interrupted, with_client
from kaha_cli.failures import Failure, Misuse, printable
from kaha_cli.keys import ASSISTANTS

VERSION = "io.modelcontextprotocol/protocolVersion"
# Of JSON-RPC: what is no JSON, and a fault on the other side.
NOT_JSON, INTERNAL = -32700, -32603
Message = dict[str, Any]


@click.command(epilog=example("kaha --profile assistant mcp"))
@with_client
@until_interrupted
def mcp(client: Client) -> None:
    """Connect an assistant's program, which starts this command, to /mcp of kaha.

    Each line of standard input is a message of the Model Context Protocol, and each answer is a line of the output.
    The key is an assistant's, ak_…
    """
    if not client.account.key.startswith(ASSISTANTS):
        raise Misuse("An assistant needs a key of its own, ak_… Put it into a profile: kaha --profile assistant login")
    Relay(client).run()


class Relay:
    """Sends each message by itself, with the version of the protocol that both sides agreed on."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._version = ""

    def run(self) -> None:
        """Answer each line until the input ends."""
        for line in sys.stdin:
            if line.strip() and (answer := self._answer(line)):
                sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
                sys.stdout.flush()

    def _answer(self, line: str) -> Message | None:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            return _error(None, NOT_JSON, "The line is not one JSON object.")
        try:
            answer = self._client.relay("/mcp", message, self._headers(message))
        except Failure as failure:
            return _error(message["id"], INTERNAL, printable(failure.message)) if "id" in message else None
        if answer and message.get("method") == "initialize":
            self._version = str(answer.get("result", {}).get("protocolVersion", ""))
        return answer

    def _headers(self, message: Message) -> dict[str, str]:
        parameters = message.get("params") or {}
        said = {
            "MCP-Protocol-Version": (parameters.get("_meta") or {}).get(VERSION) or self._version,
            "MCP-Method": message.get("method"),
            "MCP-Name": parameters.get("name"),
        }
        return {name: value for name, value in said.items() if isinstance(value, str) and value.isascii() and value}


def _error(of: Any, code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "id": of, "error": {"code": code, "message": text}}

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
# Of JSON-RPC: what is no JSON, what is no message, and a fault on the other side.
NOT_JSON, INVALID, INTERNAL = -32700, -32600, -32603
# Later ones have a single message in each line.
VERSIONS_WITH_LISTS = ("", "2024-11-05", "2025-03-26")
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
        # As bytes: what is no UTF-8 is then one line that is no JSON.
        for line in sys.stdin.buffer:
            if line.strip() and (answer := self._answers(line)):
                sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
                sys.stdout.flush()

    def _answers(self, line: bytes) -> Message | list[Message] | None:
        """Return the answer to a line, which is a message or, in older versions of the protocol, a list of them."""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, NOT_JSON, "The line is not JSON.")
        if isinstance(said, list) and said and self._version in VERSIONS_WITH_LISTS:
            return [answer for message in said if (answer := self._answer(message))]
        return self._answer(said)

    def _answer(self, message: Any) -> Message | None:
        if not isinstance(message, dict):
            return _error(None, INVALID, "A message is one JSON object.")
        try:
            answer = self._client.relay("/mcp", message, self._headers(message))
        except Failure as failure:
            return _error_of(message, INTERNAL, printable(failure.message))
        except (ValueError, RecursionError):
            # Half an emoji, no number, or deeper than can be written: read as JSON, and not to be sent as such.
            return _error_of(message, INVALID, "The message cannot be sent as JSON in UTF-8.")
        if answer and message.get("method") == "initialize":
            self._version = str(_members(answer.get("result")).get("protocolVersion", ""))
        return answer

    def _headers(self, message: Message) -> dict[str, str]:
        parameters = _members(message.get("params"))
        said = {
            "MCP-Protocol-Version": _members(parameters.get("_meta")).get(VERSION) or self._version,
            "MCP-Method": message.get("method"),
            "MCP-Name": parameters.get("name"),
        }
        return {name: value for name, value in said.items() if isinstance(value, str) and value.isascii() and value}


def _members(value: Any) -> Message:
    """Return an object's members; none where it is no object, which kaha refuses."""
    return value if isinstance(value, dict) else {}


def _error_of(message: Message, code: int, text: str) -> Message | None:
    """Return the error that answers a message; None for a notification, which needs no answer."""
    of = message.get("id")
    is_notification = "method" in message and "id" not in message
    return None if is_notification else _error(of if isinstance(of, str | int) else None, code, text)


def _error(of: Any, code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "id": of, "error": {"code": code, "message": text}}

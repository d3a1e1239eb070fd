"""What the service's document says of its types of events and test cards: the command line has no lists of its own."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import click

from kaha_cli.client import Client
from kaha_cli.command import Function
from kaha_cli.failures import Misuse, printable


def types_option(flag: str) -> Callable[[Function], Function]:
    """Return the option `flag` of a command, which gives it `types`, a text for `chosen_types`."""
    help_text = "Types, separated by commas; charge.* stands for all of charges. Default: all."
    return click.option(flag, "types", metavar="TYPES", help=help_text)


def read_triggers(client: Client) -> dict[str, list[str]]:
    """Return by type of event the flow that makes one, with its arguments."""
    return {name: call["post"].get("x-kaha-trigger", []) for name, call in _document(client)["webhooks"].items()}


def chosen_types(client: Client, text: str) -> list[str]:
    """Return the types that a list like `charge.failed,refund.*` names. Raises Misuse where a part of it names none."""
    known, chosen = sorted(read_triggers(client)), set[str]()
    for pattern in (part.strip() for part in text.split(",")):
        named = [name for name in known if fnmatchcase(name, pattern)]
        if not named:
            raise Misuse(f"There is no event type {printable(pattern)}. There are: {printable(', '.join(known))}.")
        chosen.update(named)
    return sorted(chosen)


def require_test_card(client: Client, number: str) -> None:
    """Raise Misuse for a number that is none of the test cards; the message does not repeat it."""
    if number not in _document(client)["x-kaha-test-cards"]:
        raise Misuse("This is not one of kaha's test cards. They are listed in /docs.")


def _document(client: Client) -> dict[str, Any]:
    document: dict[str, Any] = client.get("/v2/openapi.json").json()
    return document

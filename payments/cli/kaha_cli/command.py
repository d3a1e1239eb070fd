"""What the commands have in common: how each is declared, its account, how money and times are shown."""

import re
import signal
import sys
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

import click

from kaha_cli.client import Client
from kaha_cli.failures import Misuse
from kaha_cli.output import note
from kaha_cli.profiles import account_of

json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as kaha sent it.")
Function = TypeVar("Function", bound=Callable[..., Any])
# ISO 4217's currencies that do not have two decimals, withdrawn ones too.
NO_DECIMALS = [
    *("ADP", "BEF", "BIF", "BYB", "BYR", "CLP", "DJF", "ESP", "GNF", "GRD", "ISK", "ITL", "JPY", "KMF", "KRW", "LUF"),
    *("MGF", "PTE", "PYG", "RWF", "TPE", "TRL", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"),
]
THREE_DECIMALS = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
DECIMALS = dict.fromkeys(NO_DECIMALS, 0) | dict.fromkeys(THREE_DECIMALS, 3) | {"CLF": 4, "UYW": 4}


def example(*lines: str) -> str:
    """Return the epilog of a command's help that shows `lines` as they are typed."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])


class PublicId(click.ParamType):
    """The ID of an object, which becomes a part of a path."""

    def __init__(self, name: str, prefix: str) -> None:
        self.name, self.prefix = name, prefix

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> str:
        """Return the ID, or fail."""
        if not re.fullmatch(rf"{self.prefix}_[A-Za-z0-9]+", str(value)):
            self.fail(f"The ID of {'an' if self.name[0] in 'aeiou' else 'a'} {self.name} begins with {self.prefix}_.")
        return str(value)


def with_client(function: Function) -> Callable[..., Any]:
    """Give `function` the API of the chosen account as its first argument."""

    @wraps(function)
    @click.pass_context
    def call(context: click.Context, /, **arguments: Any) -> Any:
        return function(Client(account_of(context.obj)), **arguments)

    return call


def until_interrupted(function: Function) -> Callable[..., Any]:
    """End `function` with exit code 0 on Ctrl-C."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> None:
        # A shell starts a background command with SIGINT ignored, and asyncio replaces Python's own handler.
        signal.signal(signal.SIGINT, _interrupt)
        try:
            function(*arguments, **options)
        except KeyboardInterrupt:
            note("Stopped.")

    return call


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def confirm_live(client: Client, describe: Callable[[], str], yes: bool) -> None:
    """With a live key ask, unless `yes`, whether to do what `describe` returns; raise Misuse where it is not to be."""
    if yes or not client.account.livemode:
        return
    if not sys.stdin.isatty():
        raise Misuse("This is live mode, with real money. Add --yes to do it without being asked.")
    if not click.confirm(f"LIVE MODE, real money: {describe()}?", err=True):
        raise Misuse("Nothing was sent.")


def money(amount: int, currency: str) -> str:
    """Return an amount as people write it: `PHP 1,250.00`."""
    decimals = DECIMALS.get(currency, 2)
    whole, rest = divmod(abs(amount), 10**decimals)
    return f"{currency} {'-' if amount < 0 else ''}{whole:,}" + (f".{rest:0{decimals}}" if decimals else "")


def clock_time(created_at: str) -> str:
    """Return the time of day of an object, here."""
    return datetime.fromisoformat(created_at).astimezone().strftime("%H:%M:%S")

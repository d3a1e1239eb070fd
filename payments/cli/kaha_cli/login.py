"""`kaha login`, `logout` and `profiles`: the keys that this machine keeps."""

import os
import sys

import click

from kaha_cli import profiles
from kaha_cli.client import Client
from kaha_cli.command import echo, example
from kaha_cli.failures import Misuse, Refused
from kaha_cli.profiles import Account

QUICKSTART = "http://127.0.0.1:8000"


@click.command(epilog=example("kaha login", "kaha --profile shop-live login --url https://pay.example.com"))
@click.option("--url", metavar="URL", help="The service's address. Default: $KAHA_URL, or it is asked for.")
@click.pass_context
def login(context: click.Context, url: str | None) -> None:
    """Try a key and keep it in a profile that only you can read.

    The key comes from KAHA_KEY, or is asked for and not shown. It is never an option, because every user of a
    machine sees the options of its processes.
    """
    name = context.obj or profiles.DEFAULT_NAME
    if not profiles.NAME.fullmatch(name):
        raise Misuse("A profile's name has letters, digits, - and _ only.")
    stored = profiles.load()
    url = url or os.environ.get("KAHA_URL") or _asked("The service's address", default=QUICKSTART)
    key = profiles.check_key(os.environ.get("KAHA_KEY") or _asked("Secret key", hide_input=True))
    account = Account(profiles.check_url(url, key), key, name)
    _try(account)
    stored[name] = stored.get(name, {}) | {"url": account.url, "key": key}
    profiles.save(stored)
    echo(f"The profile {name} is kept in {profiles.path()}: {_mode(key)}, {account.url}")


@click.command(epilog=example("kaha --profile shop-live logout"))
@click.pass_context
def logout(context: click.Context) -> None:
    """Remove a profile and its key from this machine. The key itself stays valid."""
    name = context.obj or profiles.DEFAULT_NAME
    stored = profiles.load()
    if name not in stored:
        raise Misuse(f"There is no profile {name}.")
    del stored[name]
    profiles.save(stored)
    echo(f"The profile {name} is removed.")


@click.command("profiles", epilog=example("kaha profiles"))
def list_profiles() -> None:
    """List the profiles of this machine: name, mode and address."""
    for name, members in profiles.load().items():
        if "key" in members:
            echo(f"{name}  {_mode(members['key'])}  {members.get('url', '')}")


def _asked(text: str, default: str | None = None, hide_input: bool = False) -> str:
    if not sys.stdin.isatty():
        raise Misuse("There is no terminal to ask at. Put address and key into KAHA_URL and KAHA_KEY.")
    return str(click.prompt(text, default=default, hide_input=hide_input, err=True)).strip()


def _try(account: Account) -> None:
    try:
        Client(account).get("/v2/ping")
    except Refused as refusal:
        # A restricted key without this right is a valid key all the same.
        if refusal.error.get("code") != "right_missing":
            raise


def _mode(key: str) -> str:
    return "live mode" if profiles.is_live(key) else "test mode"

"""`kaha login`, `logout` and `profiles`: the keys that this machine keeps."""

import sys

import click

from kaha_cli import profiles
from kaha_cli.client import Client
from kaha_cli.command import example
from kaha_cli.environment import KEY, URL, variable
from kaha_cli.failures import ApiRefused, Misuse
from kaha_cli.keys import ASSISTANTS, check_key, is_live
from kaha_cli.output import echo, when_done
from kaha_cli.profiles import Identity

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
QUICKSTART = "http://127.0.0.1:8000"


@click.command(epilog=example("kaha login", "kaha --profile shop-live login --url https://pay.example.com"))
@click.option("--url", metavar="URL", help="The service's address. Default: $KAHA_URL, or it is asked for.")
@click.pass_context
def login(context: click.Context, url: str | None) -> None:
    """Try a key and keep it in a profile that only you can read.

    The key comes from KAHA_KEY, or is asked for and not shown. It is never an option, because every user of a
    machine sees the options of its processes.
    """
    name = profiles.name_of(context.obj) or profiles.DEFAULT_NAME
    stored = profiles.load()
    account = _account(url, name)
    _try(account)
    stored[name] = stored.get(name, {}) | {"url": account.url, "key": account.key}
    profiles.save(stored)
    with when_done():
        echo(f"The profile {name} is kept in {profiles.path()}: {_mode(account.key)}, {account.url}")


@click.command(epilog=example("kaha --profile shop-live logout"))
@click.pass_context
def logout(context: click.Context) -> None:
    """Remove a profile and its key from this machine. The key itself stays valid."""
    name = profiles.name_of(context.obj) or profiles.DEFAULT_NAME
    stored = profiles.load()
    if name not in stored:
        raise Misuse(f"There is no profile {name}.")
    del stored[name]
    profiles.save(stored)
    with when_done():
        echo(f"The profile {name} is removed.")


@click.command("profiles", epilog=example("kaha profiles"))
def list_profiles() -> None:
    """List the profiles of this machine: name, mode and address."""
    for name, members in profiles.load().items():
        if "key" in members:
            echo(f"{name}  {_mode(members['key'])}  {members.get('url', '')}")


def _account(url: str | None, name: str) -> Identity:
    known_url, key = variable(URL), variable(KEY)
    if key and url and known_url and url.rstrip("/") != known_url.rstrip("/"):
        raise Misuse(f"KAHA_KEY is for KAHA_URL, {known_url}. Unset it to type the key for {url}.")
    url = url or known_url or _asked("The service's address", default=QUICKSTART)
    key = check_key(key or _asked(f"Secret key for {url}", hide_input=True))
    return Identity(profiles.check_url(url, key), key, name)


def _asked(text: str, default: str | None = None, hide_input: bool = False) -> str:
    if not sys.stdin.isatty():
        raise Misuse("There is no terminal to ask at. Put address and key into KAHA_URL and KAHA_KEY.")
    return str(click.prompt(text, default=default, hide_input=hide_input, err=True)).strip()


def _try(account: Identity) -> None:
    if account.key.startswith(ASSISTANTS):
        # It works at `/mcp` alone.
        Client(account).relay("/mcp", PING, {})
        return
    try:
        Client(account).get("/v2/ping")
    except ApiRefused as refusal:
        # A restricted key without this right is a valid key all the same.
        if refusal.error.get("code") != "right_missing":
            raise


def _mode(key: str) -> str:
    return "live mode" if is_live(key) else "test mode"

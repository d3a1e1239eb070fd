"""`kaha events tail` and `kaha logs tail`: what happens in the account, a line each, until Ctrl-C."""

import re

import click

from kaha_cli.catalogue import chosen_types, types_option
from kaha_cli.client import Client
from kaha_cli.command import clock_time, example, until_interrupted, with_client
from kaha_cli.failures import printable
from kaha_cli.feed import PAGE_LENGTH, Feed
from kaha_cli.output import echo

PATH = "/v2/requests/"
STATUSES = re.compile(r"[1-5](?:xx|[0-9]{2})")
last_option = click.option(
    "--last", type=click.IntRange(0, PAGE_LENGTH), default=0, help="Begin with so many older ones, 100 at most."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print each as a line of JSON, as kaha sends it.")


@click.group()
def events() -> None:
    """See the events of this account."""


@events.command("tail", epilog=example("kaha events tail --type 'charge.*'", "kaha events tail --last 10 --json"))
@types_option("--type")
@last_option
@json_option
@with_client
@until_interrupted
def events_tail(client: Client, types: str | None, last: int, as_json: bool) -> None:
    """Print each event as it happens, until Ctrl-C: time, type, ID, and the ID of its object."""
    chosen = types and chosen_types(client, types)
    for item in Feed(client, "/v2/events/", last):
        event = item.value
        if not chosen or event["type"] in chosen:
            names = (f"{event['type']:17}", event["id"], event["data"]["object"]["id"])
            echo(item.text if as_json else "  ".join([clock_time(event["created_at"]), *map(printable, names)]))


@click.group()
def logs() -> None:
    """See the requests that were made with keys of this account."""


@logs.command("tail", epilog=example("kaha logs tail --status 4xx", "kaha logs tail --last 20 --json"))
@click.option("--status", metavar="STATUS", help="Only requests with this status, such as 404, or 4xx for all of them.")
@last_option
@json_option
@with_client
@until_interrupted
def logs_tail(client: Client, status: str | None, last: int, as_json: bool) -> None:
    """Print each request as it is made, until Ctrl-C: time, method, path, status, request ID.

    Those of all keys of this account and mode are shown, a few seconds late, as far back as kaha keeps them.
    """
    if status and not STATUSES.fullmatch(status):
        raise click.BadParameter("A status is a number like 404, or 4xx.", param_hint="--status")
    for item in Feed(client, PATH, last):
        request = item.value
        # What this command asks itself would fill the screen.
        if request["path"].rstrip("/") == PATH.rstrip("/"):
            continue
        if status and not str(request["status"]).startswith(status.rstrip("x")):
            continue
        names = (f"{request['method']:6}", f"{request['path']:40}", request["status"], request["id"])
        echo(item.text if as_json else "  ".join([clock_time(request["created_at"]), *map(printable, names)]))

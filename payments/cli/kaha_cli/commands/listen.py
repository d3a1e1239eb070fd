"""`kaha listen`: sends every event of the account to a receiver on this machine, signed as kaha signs."""

from typing import IO

import click

from kaha_cli.catalogue import chosen_types, types_option
from kaha_cli.client import Client
from kaha_cli.command import clock_time, example, until_interrupted, with_client
from kaha_cli.failures import printable
from kaha_cli.feed import Feed
from kaha_cli.output import echo
from kaha_cli.receiver import Outcome, check_receiver_url, headers_of, secret_option, send, signing_secret


@click.command(
    epilog=example(
        "kaha listen --forward-to http://localhost:3000/hook",
        "kaha listen --forward-to http://localhost:3000/hook --events 'charge.*,refund.updated'",
    )
)
@click.option("--forward-to", "url", required=True, metavar="URL", help="Your receiver.")
@types_option("--events")
@secret_option
@with_client
@until_interrupted
def listen(client: Client, url: str, types: str | None, secret_file: IO[str] | None) -> None:
    """Send this account's events to a receiver on your machine, until Ctrl-C.

    Each event goes out once it happened, one after the other, with the headers and the body that kaha itself would
    send. The receiver has 10 seconds to answer. If no connection is made, one more attempt follows after a second;
    any other outcome is printed and not retried.
    """
    check_receiver_url(url)
    secret = signing_secret(secret_file, client.account.profile)
    chosen = types and chosen_types(client, types)
    feed = Feed(client, "/v2/events/")
    echo(f"Your webhook secret is {secret}")
    echo(f"Events of {client.account.url} go to {url}.")
    for item in feed:
        if not chosen or item.value["type"] in chosen:
            body = item.text.encode()
            outcome = send(url, body, headers_of(secret, item.value["id"], body))
            name = f"{printable(item.value['type']):17} {printable(item.value['id'])}"
            echo(f"{clock_time(item.value['created_at'])}  {name}  {_words(outcome)}")


def _words(outcome: Outcome) -> str:
    if not outcome.status:
        return outcome.reason
    line = f"{outcome.status}  {outcome.milliseconds} ms"
    return line if outcome.is_taken else f"{line}  kaha would retry: not 2xx"

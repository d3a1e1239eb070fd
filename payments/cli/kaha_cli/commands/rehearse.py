"""`kaha rehearse`: plays a month of buyers against a shop, and compares its orders with kaha's books."""

import json
import secrets
import socket
from ipaddress import ip_address
from typing import IO

import click
import httpx2

from kaha_cli.client import Client
from kaha_cli.command import example, until_interrupted, with_client
from kaha_cli.environment import is_address
from kaha_cli.failures import Misuse, printable
from kaha_cli.output import echo, note
from kaha_cli.receiver import secret_option, signing_secret
from kaha_cli.rehearse.books import ADDRESSES
from kaha_cli.rehearse.month import Month
from kaha_cli.rehearse.relay import Relay
from kaha_cli.rehearse.story import Report
from kaha_cli.rehearse.visit import Shop

EXAMPLE = (
    "kaha rehearse --begin http://127.0.0.1:3000/buy --orders http://127.0.0.1:3000/orders.json "
    "--receiver http://127.0.0.1:3000/webhooks"
)


@click.command(epilog=example(EXAMPLE, f"{EXAMPLE} --seed 7 --only 41"))
@click.option("--begin", required=True, metavar="URL", help="Where a POST begins an order.")
@click.option("--orders", required=True, metavar="URL", help="Where the orders are listed; a CSV file, or -.")
@click.option("--receiver", required=True, metavar="URL", help="Your receiver of webhooks.")
@click.option("--refund", default="", metavar="URL", help="Where your staff's POST of reference and amount refunds.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Which buyers come.")
@click.option("--buyers", type=click.IntRange(1, 10_000), default=200, show_default=True, help="How many come.")
@click.option("--only", type=click.IntRange(1), help="Only the buyer with this number.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--report", type=click.File("w", "utf-8", "replace", lazy=False), help="Write the result as a page.")
@click.option("--yes-this-is-my-shop", "is_mine", is_flag=True, help="Also where an address is not private.")
@secret_option
@with_client
@until_interrupted
def rehearse(
    client: Client,
    seed: int,
    buyers: int,
    only: int | None,
    as_json: bool,
    report: IO[str] | None,
    is_mine: bool,
    secret_file: IO[str] | None,
    **places: str,
) -> None:
    """Play a month of buyers against your staging shop, and say whether each order is paid and delivered once.

    A test key and the shop's addresses are enough. It ends with 1 where something is wrong, and shows the first such
    buyer as a story. Ctrl-C ends it with the result so far.
    """
    if client.account.livemode:
        raise Misuse("Buyers are played with a test key only.")
    is_listed = places["orders"].startswith(ADDRESSES)
    addresses = [place for name, place in places.items() if place and (is_listed or name != "orders")]
    hosts = {_host_of(url, is_mine) for url in addresses}
    secret, tls = signing_secret(secret_file, client.account.profile), httpx2.create_ssl_context(trust_env=False)
    note(f"Your webhook secret is {secret}")
    relay = Relay(client, places["receiver"], secret, tls)
    shop = Shop(client, relay, places["begin"], places["refund"], hosts, seed, secrets.token_hex(4), tls)
    month = Month(shop, [only] if only else list(range(1, buyers + 1)), places["orders"])
    month.play()
    month.judge()
    paid = [charges for visit in month.finished for charges in visit.charges.values()]
    result = Report(seed, len(month.finished), len(paid), sum(map(len, paid)), month.wrong, month.note)
    echo(json.dumps(result.json()) if as_json else "\n".join(map(printable, result.text())))
    if report:
        report.write(result.html())
    if month.failure:
        raise month.failure
    click.get_current_context().exit(0 if result.is_sound else 1)


def _host_of(url: str, is_mine: bool) -> str:
    """Return the host of an address. Raises Misuse unless it is one of a private network, or `is_mine`."""
    if not is_address(url):
        raise Misuse(f"{printable(url)} is not an address like http://127.0.0.1:3000/buy")
    host = httpx2.URL(url).host
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        raise Misuse(f"The host {printable(host)} has no address.") from None
    if not is_mine and not all(ip_address(address.partition("%")[0]).is_private for address in found):
        raise Misuse(f"{printable(host)} is not private. If it is your shop's, add --yes-this-is-my-shop.")
    return host

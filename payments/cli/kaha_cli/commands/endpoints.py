"""`kaha endpoints`: makes, lists, changes, tests and deletes webhook endpoints, and rolls their secrets."""

from collections.abc import Iterator
from typing import Any

import click

from kaha_cli.catalogue import chosen_types
from kaha_cli.client import Client
from kaha_cli.command import PublicId, confirm_live, example, json_option, with_client
from kaha_cli.commands.charges import show_page
from kaha_cli.failures import printable
from kaha_cli.output import show, when_done

PATH = "/v2/webhook_endpoints/"
EVERY_TYPE = "*"
DAY_SECONDS, WEEK_SECONDS = 86_400, 7 * 86_400
yes_option = click.option("--yes", is_flag=True, help="Do it in live mode without being asked.")


def _types(client: Client, text: str) -> list[str]:
    """Return the types as the service takes them: `*` stays, for it covers those that come later too."""
    return [EVERY_TYPE] if text.strip() == EVERY_TYPE else chosen_types(client, text)


endpoint_argument = click.argument("endpoint", metavar="ENDPOINT", type=PublicId("endpoint", "we"))


@click.group()
def endpoints() -> None:
    """Make, list, change, test and delete webhook endpoints."""


@endpoints.command("list", epilog=example("kaha endpoints list"))
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True)
@click.option("--start-after", metavar="ENDPOINT", help="Begin after this endpoint, for the next page.")
@json_option
@with_client
def list_endpoints(client: Client, as_json: bool, **query: Any) -> None:
    """List webhook endpoints, the newest first."""
    show_page(client.get(PATH, **query), as_json, _line)


@endpoints.command(epilog=example("kaha endpoints create https://shop.example/kaha --events 'dispute.*,payout.paid'"))
@click.argument("url", metavar="URL")
@click.option("--events", default=EVERY_TYPE, help="Types, separated by commas; dispute.* for all of disputes.")
@click.option("--description", help="What it is for.")
@json_option
@with_client
def create(client: Client, url: str, events: str, description: str | None, as_json: bool) -> None:
    """Make an endpoint, and print its secret, which is shown this once."""
    body = {"url": url, "enabled_events": _types(client, events), "description": description}
    made = client.post(PATH, {name: value for name, value in body.items() if value is not None})
    with when_done():
        show(made, as_json, _details)


@endpoints.command(epilog=example("kaha endpoints update we_… --status paused"))
@endpoint_argument
@click.option("--url", help="Where events are sent from now on.")
@click.option("--events", help="Types, separated by commas, in place of those before.")
@click.option("--status", type=click.Choice(["enabled", "paused", "disabled"]))
@click.option("--description", help="What it is for.")
@json_option
@with_client
def update(client: Client, endpoint: str, as_json: bool, events: str | None, **changes: Any) -> None:
    """Change what is given of an endpoint."""
    changes |= {"enabled_events": events and _types(client, events)}
    body = {name: value for name, value in changes.items() if value is not None}
    changed = client.send("PUT", f"{PATH}{endpoint}", json=body)
    with when_done():
        show(changed, as_json, _details)


@endpoints.command(epilog=example("kaha endpoints delete we_…"))
@endpoint_argument
@yes_option
@with_client
def delete(client: Client, endpoint: str, yes: bool) -> None:
    """Delete an endpoint; what waits for it is not sent."""
    confirm_live(client, lambda: f"delete {endpoint}", yes)
    deleted = client.send("DELETE", f"{PATH}{endpoint}")
    with when_done():
        show(deleted, False, lambda gone: [f"{printable(gone['id'])} is deleted."])


@endpoints.command(epilog=example("kaha endpoints test we_…"))
@endpoint_argument
@json_option
@with_client
def test(client: Client, endpoint: str, as_json: bool) -> None:
    """Send a test event, and print what the receiver did."""
    sent = client.post(f"{PATH}{endpoint}/test", {})
    with when_done():
        show(sent, as_json, lambda done: [printable(f"{done['status'] or done['error']} in {done['milliseconds']} ms")])


@endpoints.command("roll-secret", epilog=example("kaha endpoints roll-secret we_… --overlap-seconds 3600"))
@endpoint_argument
@click.option(
    "--overlap-seconds",
    type=click.IntRange(0, WEEK_SECONDS),
    default=DAY_SECONDS,
    show_default=True,
    help="How long the earlier secret signs too.",
)
@yes_option
@json_option
@with_client
def roll_secret(client: Client, endpoint: str, overlap_seconds: int, yes: bool, as_json: bool) -> None:
    """Roll an endpoint's secret, and print the new one, which is shown this once."""
    confirm_live(client, lambda: f"roll the secret of {endpoint}", yes)
    rolled = client.post(f"{PATH}{endpoint}/roll_secret", {"overlap_seconds": overlap_seconds})
    with when_done():
        show(rolled, as_json, _details)


def _line(endpoint: dict[str, Any]) -> str:
    return "  ".join(map(printable, (endpoint["created_at"][:19], endpoint["id"], endpoint["status"], endpoint["url"])))


def _details(endpoint: dict[str, Any]) -> Iterator[str]:
    members = {
        "endpoint": endpoint["id"],
        "url": endpoint["url"],
        "events": ", ".join(endpoint["enabled_events"]),
        "status": endpoint["status"],
        "secret": endpoint.get("secret"),
    }
    yield from (f"{name:8} {printable(value)}" for name, value in members.items() if value)

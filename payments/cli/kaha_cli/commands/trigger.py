"""`kaha trigger`: makes an event of each type happen, by real requests in test mode."""

import secrets
import time
from collections.abc import Callable
from typing import Any

import click

from kaha_cli.client import Client
from kaha_cli.command import example, with_client
from kaha_cli.commands.charges import APPROVED, DECLINED, source_of
from kaha_cli.failures import Misuse, Unreachable, printable
from kaha_cli.feed import items_of
from kaha_cli.output import echo, when_done

AMOUNT = 10_000
# Its refunds succeed after a few seconds.
REFUNDS_WAIT = "4000000000007726"
# Disputed at once; asked about and disputed after a day; lost after a week.
DISPUTED, ASKED_ABOUT, LOST = "4000000000000259", "4000000000004269", "4000000000004277"
DAY_SECONDS = 86_400
DEADLINE_SECONDS = 60.0
PAUSE_SECONDS = 0.5
# Returns the ID of the object that the event is about.
Flow = Callable[[Client], str]


def _make(client: Client, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = client.post(path, body or {}, f"kaha-cli-{secrets.token_hex(16)}").json()
    return made


def _source(client: Client, number: str = APPROVED) -> str:
    return str(_make(client, "/v2/sources/", source_of(number))["id"])


def _charge(client: Client, number: str = APPROVED, **members: Any) -> str:
    body = {"amount": AMOUNT, "description": "Made by kaha trigger", "source": _source(client, number), **members}
    return str(_make(client, "/v2/charges/", body)["id"])


def _held_then(client: Client, verb: str) -> str:
    charge = _charge(client, capture=False)
    return str(_make(client, f"/v2/charges/{charge}/{verb}")["id"])


def _refund(client: Client, number: str) -> str:
    charge = _charge(client, number)
    return str(_make(client, f"/v2/charges/{charge}/refund")["refunds"][0]["id"])


def _dispute(client: Client, number: str = DISPUTED, then_days: int = 0) -> str:
    """Return the ID of the dispute of a new charge, after so many days more, which takes the service's test clock."""
    charge, deadline = _charge(client, number), time.monotonic() + DEADLINE_SECONDS
    while not (found := client.get("/v2/disputes/", charge=charge).json()["data"]):
        if time.monotonic() > deadline:
            raise Unreachable(client.account.url, f"{charge} was not disputed within {DEADLINE_SECONDS:g} seconds.")
        time.sleep(PAUSE_SECONDS)
    if then_days:
        _make(client, "/v2/test/clock/", {"advance_seconds": then_days * DAY_SECONDS})
    return str(found[0]["id"])


def _disputed_charge(client: Client) -> str:
    return str(client.get(f"/v2/disputes/{_dispute(client)}").json()["charge"])


def _customer(client: Client) -> str:
    body = {"email": f"{secrets.token_hex(8)}@shop.example", "description": "Made by kaha trigger"}
    return str(_make(client, "/v2/customers/", body)["id"])


def _customer_then(client: Client, method: str, **request: Any) -> str:
    customer = _customer(client)
    client.send(method, f"/v2/customers/{customer}", **request)
    return customer


def _detached_source(client: Client) -> str:
    customer, source = _customer(client), _source(client)
    _make(client, f"/v2/customers/{customer}/sources", {"source": source})
    client.send("DELETE", f"/v2/customers/{customer}/sources/{source}")
    return source


def _charged_source(client: Client) -> str:
    charge = client.get(f"/v2/charges/{_charge(client)}").json()
    return str(charge["source"]["id"])


FLOWS: dict[str, Flow] = {
    "charge.created": _charge,
    "charge.updated": lambda client: _held_then(client, "void"),
    "charge.succeeded": _charge,
    "charge.failed": lambda client: _charge(client, DECLINED),
    "charge.captured": lambda client: _held_then(client, "capture"),
    "charge.disputed": _disputed_charge,
    "refund.created": lambda client: _refund(client, APPROVED),
    "refund.updated": lambda client: _refund(client, REFUNDS_WAIT),
    "dispute.created": _dispute,
    "dispute.updated": lambda client: _dispute(client, ASKED_ABOUT, then_days=1),
    "dispute.closed": lambda client: _dispute(client, LOST, then_days=7),
    "customer.created": _customer,
    "customer.updated": lambda client: _customer_then(client, "PUT", json={"description": "Changed by kaha trigger"}),
    "customer.deleted": lambda client: _customer_then(client, "DELETE"),
    "source.created": _source,
    "source.updated": _charged_source,
    "source.deleted": _detached_source,
}


@click.command(epilog=example("kaha trigger charge.failed"))
@click.argument("event_type", metavar="TYPE", type=click.Choice(list(FLOWS)))
@click.option("--json", "as_json", is_flag=True, help="Print the event as JSON, as kaha sends it.")
@with_client
def trigger(client: Client, event_type: str, as_json: bool) -> None:
    """Make an event of TYPE happen, and print its ID.

    It is made by real requests in test mode, with test cards, so events of other types come before it. TYPE is one
    of charge.created, charge.updated, charge.succeeded, charge.failed, charge.captured, charge.disputed,
    refund.created, refund.updated, dispute.created, dispute.updated, dispute.closed, customer.created,
    customer.updated, customer.deleted, source.created, source.updated and source.deleted. The later events of a
    dispute take a service with a test clock (KAHA_CLOCK).
    """
    if client.account.livemode:
        raise Misuse("Events are triggered with a test key only.")
    object_id = FLOWS[event_type](client)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        found = items_of(client.get("/v2/events/", type=event_type, object=object_id, limit=1).text)
        if found:
            with when_done():
                echo(found[0].text if as_json else f"{found[0].value['id']}  {event_type}  {printable(object_id)}")
            return
        time.sleep(PAUSE_SECONDS)
    raise Unreachable(
        client.account.url, f"{event_type} of {object_id} did not happen within {DEADLINE_SECONDS:g} seconds."
    )

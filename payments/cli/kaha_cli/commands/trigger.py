"""`kaha trigger`: makes an event of each type happen, by real requests in test mode."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from kaha_cli.catalogue import read_triggers
from kaha_cli.client import Client
from kaha_cli.command import example, with_client
from kaha_cli.commands.charges import source_of
from kaha_cli.failures import Misuse, Unreachable, printable
from kaha_cli.feed import items_of
from kaha_cli.output import echo, when_done

AMOUNT, MADE_BY = 10_000, "Made by kaha trigger"
DAY_SECONDS = 86_400
ORDER = {
    "currency": "PHP",
    "line_items": [{"name": MADE_BY, "amount": AMOUNT, "quantity": 1}],
    "payment_method_types": ["card"],
}
# What each kind of checkout has beside its order; a payment request has a customer of its own.
MORE: dict[str, dict[str, Any]] = {
    "checkout_sessions": {"success_url": "https://shop.example/thanks", "cancel_url": "https://shop.example/cart"},
    "payment_requests": {},
    "payment_links": {"internal_name": MADE_BY, "allow_adjustable_quantity": False},
}
PAYER = {"expiry": "12/39", "cvc": "123", "holder": "Juan dela Cruz"}
DEADLINE_SECONDS = 60.0
PAUSE_SECONDS = 0.5
# Takes the arguments that the service names, and returns the ID of the object that the event is about.
Flow = Callable[..., str]


def _make(client: Client, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = client.post(path, body or {}).json()
    return made


def _source(client: Client, number: str) -> str:
    return str(_make(client, "/v2/sources/", source_of(number))["id"])


def _charge(client: Client, number: str, **members: Any) -> str:
    body = {"amount": AMOUNT, "description": MADE_BY, "source": _source(client, number), **members}
    return str(_make(client, "/v2/charges/", body)["id"])


def _held_charge(client: Client, number: str, verb: str) -> str:
    charge = _charge(client, number, capture=False)
    return str(_make(client, f"/v2/charges/{charge}/{verb}")["id"])


def _refund(client: Client, number: str) -> str:
    charge = _charge(client, number)
    return str(_make(client, f"/v2/charges/{charge}/refund")["refunds"][0]["id"])


def _dispute(client: Client, number: str, days: str = "0") -> str:
    """Return the ID of the dispute of a new charge, after so many days more, which takes the service's test clock."""
    charge, deadline = _charge(client, number), time.monotonic() + DEADLINE_SECONDS
    while not (found := client.get("/v2/disputes/", charge=charge).json()["data"]):
        if time.monotonic() > deadline:
            raise Unreachable(client.account.url, f"{charge} was not disputed within {DEADLINE_SECONDS:g} seconds.")
        time.sleep(PAUSE_SECONDS)
    if int(days):
        _make(client, "/v2/test/clock/", {"advance_seconds": int(days) * DAY_SECONDS})
    return str(found[0]["id"])


def _disputed_charge(client: Client, number: str) -> str:
    return str(client.get(f"/v2/disputes/{_dispute(client, number)}").json()["charge"])


def _customer(client: Client, method: str = "") -> str:
    """Return the ID of a new customer, who is changed or deleted at once if a method is given."""
    body = {"email": f"{secrets.token_hex(8)}@shop.example", "description": MADE_BY}
    customer = str(_make(client, "/v2/customers/", body)["id"])
    if method:
        client.send(method, f"/v2/customers/{customer}", json=body if method == "PUT" else None)
    return customer


def _detached_source(client: Client, number: str) -> str:
    customer, source = _customer(client), _source(client, number)
    _make(client, f"/v2/customers/{customer}/sources", {"source": source})
    client.send("DELETE", f"/v2/customers/{customer}/sources/{source}")
    return source


def _charged_source(client: Client, number: str) -> str:
    charge = client.get(f"/v2/charges/{_charge(client, number)}").json()
    return str(charge["source"]["id"])


def _checkout(client: Client, path: str, verb: str = "", number: str = "") -> str:
    """Return the ID of a new session, request or link; to pay, its payer sends the form of its page with a card."""
    order = ORDER | (MORE[path] or {"customer": _customer(client), "delivery_methods": ["email"]})
    made = _make(client, f"/v2/{path}/", order)
    if number:
        page = made.get("payment_url") or made["payment_request_url"]
        client.send_form(page, {"attempt": "0", "way": "card", "number": number, **PAYER})
    elif verb:
        _make(client, f"/v2/{path}/{made['id']}/{verb}", {"reason": MADE_BY} if verb == "void" else {})
    return str(made["id"])


def _payout(client: Client, number: str, days: str, *then: str) -> str:
    """Return the ID of the payout of a new charge, after so many days, which take the service's test clock.

    `then` are the types of events that the bank, or an operator, causes afterwards; the ID is that of the last one.
    """
    before = {payout["id"] for payout in client.get("/v2/payouts/").json()["data"]}
    _charge(client, number)
    for _ in range(int(days)):
        _make(client, "/v2/test/clock/", {"advance_seconds": DAY_SECONDS})
    made = [payout["id"] for payout in client.get("/v2/payouts/").json()["data"] if payout["id"] not in before]
    if not made:
        raise Misuse("No payout was made: in test mode this account has no payout schedule, or no bank account.")
    return _caused(client, *then) if then else str(made[-1])


def _caused(client: Client, *types: str) -> str:
    """Return the ID of what a bank or a person acts on at last, which takes the service's test clock."""
    made = [_make(client, "/v2/test/events/", {"type": each}) for each in types]
    return str(made[-1]["data"]["object"]["id"])


def _organization(client: Client) -> str:
    """Return the ID of the account, after an endpoint was made and deleted."""
    endpoint = _make(client, "/v2/webhook_endpoints/", {"url": "https://shop.example/kaha", "enabled_events": ["*"]})
    client.send("DELETE", f"/v2/webhook_endpoints/{endpoint['id']}")
    return str(client.get("/v2/me").json()["id"])


def _expiring_source(client: Client, number: str) -> str:
    """Return the ID of a kept card that expires at the end of next month, after a month of the test clock."""
    until = datetime.now(UTC).replace(day=1) + timedelta(days=32)
    order = source_of(number)
    order["card"] |= {"exp_month": str(until.month), "exp_year": str(until.year)}
    source, customer = _make(client, "/v2/sources/", order)["id"], _customer(client)
    _make(client, f"/v2/customers/{customer}/sources", {"source": source})
    _make(client, "/v2/test/clock/", {"advance_seconds": 31 * DAY_SECONDS})
    return str(source)


# By the word with which the service names it.
FLOWS: dict[str, Flow] = {
    flow.__name__.removeprefix("_"): flow
    for flow in (
        *(_charge, _held_charge, _disputed_charge, _refund, _dispute, _customer, _organization, _payout, _caused),
        *(_source, _charged_source, _detached_source, _expiring_source, _checkout),
    )
}


@click.command(epilog=example("kaha trigger charge.failed"))
@click.argument("event_type", metavar="TYPE")
@click.option("--json", "as_json", is_flag=True, help="Print the event as JSON, as kaha sends it.")
@with_client
def trigger(client: Client, event_type: str, as_json: bool) -> None:
    """Make an event of TYPE happen, and print its ID.

    It is made by real requests in test mode, with test cards, so events of other types come before it. The later
    events of a dispute, those of payouts and their accounts and source.expiring take a service with a test clock
    (KAHA_CLOCK).
    """
    if client.account.livemode:
        raise Misuse("Events are triggered with a test key only.")
    triggers = read_triggers(client)
    if event_type not in triggers:
        raise Misuse(f"There is no event type {printable(event_type)}. There are: {printable(', '.join(triggers))}.")
    flow, *arguments = triggers[event_type] or [""]
    if flow not in FLOWS:
        raise Misuse(f"This version of kaha cannot make {event_type} happen. Install the service's version.")
    object_id = FLOWS[flow](client, *arguments)
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

"""`kaha trigger`: makes an event of each type happen, by real requests in test mode."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
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
ORDER = {
    "currency": "PHP",
    "line_items": [{"name": "Made by kaha trigger", "amount": AMOUNT, "quantity": 1}],
    "payment_method_types": ["card"],
}
PAYER = {"expiry": "12/39", "cvc": "123", "holder": "Juan dela Cruz"}
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


def _session(client: Client) -> dict[str, Any]:
    pages = {"success_url": "https://shop.example/thanks", "cancel_url": "https://shop.example/cart"}
    return _make(client, "/v2/checkout_sessions/", ORDER | pages)


def _request(client: Client) -> dict[str, Any]:
    return _make(
        client, "/v2/payment_requests/", ORDER | {"customer": _customer(client), "delivery_methods": ["email"]}
    )


def _link(client: Client) -> str:
    terms = {"internal_name": "Made by kaha trigger", "allow_adjustable_quantity": False}
    return str(_make(client, "/v2/payment_links/", ORDER | terms)["id"])


def _paid(client: Client, asked: dict[str, Any], number: str = APPROVED) -> str:
    """Return the ID of a session or request, after its payer has sent the form of its page with a card."""
    page = asked.get("payment_url") or asked["payment_request_url"]
    client.send_form(page, {"attempt": "0", "way": "card", "number": number, **PAYER})
    return str(asked["id"])


def _then(client: Client, path: str, object_id: str, verb: str, body: dict[str, Any] | None = None) -> str:
    _make(client, f"/v2/{path}/{object_id}/{verb}", body)
    return object_id


def _payout(client: Client, days: int) -> str:
    """Return the ID of the payout of a new charge, after so many days, which take the service's test clock."""
    before = {payout["id"] for payout in client.get("/v2/payouts/").json()["data"]}
    _charge(client)
    for _ in range(days):
        _make(client, "/v2/test/clock/", {"advance_seconds": DAY_SECONDS})
    made = [payout["id"] for payout in client.get("/v2/payouts/").json()["data"] if payout["id"] not in before]
    if not made:
        raise Misuse("No payout was made: in test mode this account has no payout schedule, or no bank account.")
    return str(made[-1])


def _caused(client: Client, *types: str) -> str:
    """Return the ID of what a bank or a person acts on at last, which takes the service's test clock."""
    made = [_make(client, "/v2/test/events/", {"type": each}) for each in types]
    return str(made[-1]["data"]["object"]["id"])


def _organization(client: Client) -> str:
    """Return the ID of the account, after an endpoint was made and deleted."""
    endpoint = _make(client, "/v2/webhook_endpoints/", {"url": "https://shop.example/kaha", "enabled_events": ["*"]})
    client.send("DELETE", f"/v2/webhook_endpoints/{endpoint['id']}")
    return str(client.get("/v2/me").json()["id"])


def _expiring_source(client: Client) -> str:
    """Return the ID of a kept card that expires at the end of next month, after a month of the test clock."""
    until = datetime.now(UTC).replace(day=1) + timedelta(days=32)
    order = source_of(APPROVED)
    order["card"] |= {"exp_month": str(until.month), "exp_year": str(until.year)}
    source, customer = _make(client, "/v2/sources/", order)["id"], _customer(client)
    _make(client, f"/v2/customers/{customer}/sources", {"source": source})
    _make(client, "/v2/test/clock/", {"advance_seconds": 31 * DAY_SECONDS})
    return str(source)


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
    "source.expiring": _expiring_source,
    "checkout_session.created": lambda client: str(_session(client)["id"]),
    "checkout_session.completed": lambda client: _paid(client, _session(client)),
    "checkout_session.expired": lambda client: _then(client, "checkout_sessions", _session(client)["id"], "expire"),
    "payment_request.created": lambda client: str(_request(client)["id"]),
    "payment_request.updated": lambda client: _then(
        client, "payment_requests", _request(client)["id"], "void", {"reason": "Made by kaha trigger"}
    ),
    "payment_request.succeeded": lambda client: _paid(client, _request(client)),
    "payment_request.failed": lambda client: _paid(client, _request(client), DECLINED),
    "payment_link.created": _link,
    "payment_link.updated": lambda client: _then(client, "payment_links", _link(client), "deactivate"),
    "payout.created": lambda client: _payout(client, days=3),
    "payout.updated": lambda client: _payout(client, days=3),
    "payout.paid": lambda client: _payout(client, days=5),
    "payout.failed": lambda client: _payout(client, days=3) and _caused(client, "payout.failed"),
    # What came back can be paid out at once.
    "payout.cancelled": lambda client: _payout(client, days=3) and _caused(client, "payout.failed", "payout.cancelled"),
    "payout_account.created": lambda client: _caused(client, "payout_account.created"),
    "payout_account.updated": lambda client: _caused(client, "payout_account.updated"),
    "organization.updated": _organization,
}


@click.command(epilog=example("kaha trigger charge.failed"))
@click.argument("event_type", metavar="TYPE", type=click.Choice(list(FLOWS)))
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

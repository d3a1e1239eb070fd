"""The two sides that must agree: what kaha was paid for a session, and what the shop says of its orders."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import click

from kaha_cli.failures import Misuse, printable
from kaha_cli.rehearse.browser import Browser

STATES = ("open", "paid", "cancelled", "refunded")
STANDARD_INPUT, ADDRESSES = "-", ("http://", "https://")
ANSWER_SECONDS = 30.0
NOT_ORDERS = (ValueError, LookupError, TypeError, AttributeError, RecursionError, csv.Error)
SHAPE = '[{"reference": …, "state": …, "amount": …, "currency": …, "delivered": …}]'


@dataclass(frozen=True)
class Order:
    """An order as the shop lists it. `refunded` is None where the shop does not say it."""

    reference: str
    state: str
    amount: int
    currency: str
    delivered: int
    refunded: int | None = None


# What kaha was paid for an order.
Charges = list[dict[str, Any]]
# By reference.
Orders = dict[str, list[Order]]


def paid_charge(session: dict[str, Any]) -> dict[str, Any] | None:
    """Return the charge that a session was paid by, as kaha has it now; None if it was not paid."""
    charge: dict[str, Any] = session["payment_details"] or {}
    is_paid = session["payment_status"] == "paid" and charge["status"] in ("succeeded", "refunded")
    return charge if is_paid else None


def orders_of(place: str) -> Orders:
    """Return by reference the orders that an address, a file or standard input has as JSON or CSV. Raises Misuse."""
    text, found = _fetched(place) if place.startswith(ADDRESSES) else _read(place), defaultdict[str, list[Order]](list)
    try:
        for order in map(_order, _rows(text.removeprefix("\ufeff"))):
            found[order.reference].append(order)
    except NOT_ORDERS as error:
        raise Misuse(f"The orders are not {SHAPE}: {printable(error)} ({type(error).__name__})") from None
    return found


def _fetched(url: str) -> str:
    with Browser(trust_env=False, timeout=ANSWER_SECONDS) as browser:
        page = browser.open(url)
    if not page.is_success:
        raise Misuse(f"--orders gives no orders: it answers {page.status or 'nothing'}. Is the shop running?")
    return page.text


def _read(place: str) -> str:
    try:
        with click.open_file(place, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        raise Misuse(f"The file {printable(place)} cannot be read as UTF-8.") from None


def _rows(text: str) -> Iterable[dict[str, Any]]:
    if text.lstrip().startswith("["):
        rows: list[dict[str, Any]] = json.loads(text)
        return rows
    # A spreadsheet of some countries writes semicolons.
    reader = csv.DictReader(io.StringIO(text), delimiter=";" if ";" in text.partition("\n")[0] else ",")
    if "reference" not in (reader.fieldnames or ()):
        raise KeyError("reference")
    return reader


def _order(row: dict[str, Any]) -> Order:
    if row["state"] not in STATES:
        raise ValueError(f"a state is one of {', '.join(STATES)}")
    return Order(
        reference=str(row["reference"]),
        state=row["state"],
        amount=_whole(row["amount"]),
        currency=row["currency"].upper(),
        delivered=_whole(row["delivered"]),
        refunded=None if row.get("refunded") in (None, "") else _whole(row["refunded"]),
    )


def _whole(value: Any) -> int:
    if not str(value).isdecimal():
        raise ValueError(f"{value!r} is not a whole number")
    return int(value)

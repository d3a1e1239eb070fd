"""A merchant's balance and the list of what it is made of, as a program reads them."""

from collections import Counter
from typing import Any
from uuid import UUID

from payments.db.scoped_queryset import LAST_ID
from payments.ledger import transactions
from payments.ledger.balances import balances_of
from payments.rendering.objects.payouts import TRANSACTION
from tests.client import Api, made

# An amount by balance and currency.
Sums = dict[tuple[str, str], int]
BALANCES = ("pending", "available", "reserved")


def all_pages(api: Api, path: str, **query: Any) -> list[dict[str, Any]]:
    """Return the objects of all pages of a list."""
    found: list[dict[str, Any]] = []
    page = made(api.get(path, **query))
    while True:
        found += page["data"]
        if "next" not in page:
            return found
        page = made(api.get(page["next"].removeprefix("/v2")))


def balance(api: Api) -> Sums:
    """Return what `/v2/balance/` shows, without zeros."""
    shown = made(api.get("/balance/"))
    amounts = {(name, entry["currency"]): entry["amount"] for name in BALANCES for entry in shown[name]}
    return {place: amount for place, amount in amounts.items() if amount}


def summed(rows: list[dict[str, Any]]) -> Sums:
    """Return what some transactions sum to, without zeros."""
    sums = Counter[tuple[str, str]]()
    for row in rows:
        sums[row["balance"], row["currency"]] += row["amount"]
    return {place: amount for place, amount in sums.items() if amount}


def kept_balances(merchant_id: UUID) -> Sums:
    """Return the test mode's balances as the database keeps them, without zeros."""
    kept = balances_of(merchant_id, livemode=False)
    amounts = {(name, code): getattr(balance, name) for code, balance in kept.items() for name in BALANCES}
    return {place: amount for place, amount in amounts.items() if amount}


def listed_balances(merchant_id: UUID, length: int = 100) -> Sums:
    """Return what all pages of the test mode's transactions sum to, without zeros."""
    rows, below = [], LAST_ID
    while page := transactions.of_merchant(merchant_id=merchant_id, livemode=False, length=length, below=below):
        rows += [TRANSACTION.render(posting) for posting in page]
        below = page[-1].id
    return summed(rows)

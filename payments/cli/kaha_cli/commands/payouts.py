"""`kaha balance` and `kaha payouts`: what the account has, and what went to its bank."""

from typing import Any

import click

from kaha_cli.client import Client
from kaha_cli.command import PublicId, example, json_option, money, with_client
from kaha_cli.commands.charges import show_page
from kaha_cli.failures import printable
from kaha_cli.output import show

BALANCES = ("available", "pending", "reserved", "held")


@click.command(epilog=example("kaha balance", "kaha balance --json"))
@json_option
@with_client
def balance(client: Client, as_json: bool) -> None:
    """Show the balance: what is available, pending, reserved and held, by currency."""
    show(client.get("/v2/balance/"), as_json, _balances)


def _balances(found: dict[str, Any]) -> list[str]:
    return [
        f"{name:9} {printable(money(entry['amount'], entry['currency'])):>20}"
        for name in BALANCES
        for entry in found[name]
    ]


@click.group()
def payouts() -> None:
    """List and show payouts."""


@payouts.command("list", epilog=example("kaha payouts list --status paid --limit 5"))
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True)
@click.option("--status", type=click.Choice(["pending", "in_transit", "paid", "failed", "cancelled"]))
@click.option("--currency", help="Only payouts in this currency.")
@click.option("--start-after", metavar="PAYOUT", help="Begin after this payout, for the next page.")
@json_option
@with_client
def list_payouts(client: Client, as_json: bool, **query: Any) -> None:
    """List payouts, the newest first."""
    show_page(client.get("/v2/payouts/", **query), as_json, _line)


def _line(payout: dict[str, Any]) -> str:
    amount = money(payout["amount"], payout["currency"])
    return "  ".join(map(printable, (payout["created_at"][:19], payout["id"], f"{amount:>16}", payout["status"])))


@payouts.command(epilog=example("kaha payouts retrieve po_…"))
@click.argument("payout", metavar="PAYOUT", type=PublicId("payout", "po"))
@json_option
@with_client
def retrieve(client: Client, payout: str, as_json: bool) -> None:
    """Show a payout as it is now."""
    show(client.get(f"/v2/payouts/{payout}"), as_json, _details)


def _details(payout: dict[str, Any]) -> list[str]:
    account, reserve = payout["bank_account"], payout["reserve"]
    members = {
        "payout": payout["id"],
        "status": payout["status"],
        "amount": money(payout["amount"], payout["currency"]),
        "reserve": reserve and money(reserve, payout["currency"]),
        "account": f"{account['holder']}, ending in {account['last4']}, {account['bic']}",
        "created": payout["created_at"],
        "sent": payout.get("sent_at"),
        "paid": payout.get("paid_at"),
        "failure": payout.get("failure_code"),
    }
    return [f"{name:8} {printable(value)}" for name, value in members.items() if value]

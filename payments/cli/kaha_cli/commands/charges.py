"""`kaha charges`: makes, lists, captures, voids and refunds charges."""

import re
import shlex
from collections.abc import Callable
from typing import Any

import click
import httpx2

from kaha_cli.catalogue import require_test_card
from kaha_cli.client import Client, new_key
from kaha_cli.command import Function, PublicId, confirm_live, example, json_option, money, with_client
from kaha_cli.failures import Failure, Misuse, Unreachable, printable
from kaha_cli.output import note, show, when_done

# At most 240 characters, for its source has a key of its own, made of this one. An empty one would be none.
IDEMPOTENCY_KEY = re.compile("(?=.{1,240}$)[!-~](?:[ -~]*[!-~])?")
# More digits than any amount that kaha takes. A zero in front may be meant as anything.
WHOLE = re.compile("[1-9][0-9]{0,14}")
DECIMAL = re.compile(r"([0-9]{1,12})\.([0-9]{2})")
SHOWN_LENGTH = 40


class Amount(click.ParamType):
    """A whole number of the currency's smallest unit."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int:
        """Return the number, or fail with what to write instead."""
        text = str(value)
        if WHOLE.fullmatch(text):
            return int(text)
        meant = DECIMAL.fullmatch(text)
        instead = f"For PHP {text} give {int(meant[1] + meant[2])}." if meant else "For PHP 12.50 give 1250."
        shown = repr(text) if len(text) <= SHOWN_LENGTH else f"A text of {len(text)} characters"
        return self.fail(f"{shown} is no amount: a whole number of the currency's smallest unit. {instead}")


class IdempotencyKey(click.ParamType):
    """A key that can be sent as it is."""

    name = "key"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> str:
        """Return the key, or fail."""
        if not IDEMPOTENCY_KEY.fullmatch(str(value)):
            self.fail("An idempotency key has 1 to 240 printable ASCII characters. Is your variable set?")
        return str(value)


charge_argument = click.argument("charge", metavar="CHARGE", type=PublicId("charge", "ch"))


def changes(function: Function) -> Callable[..., Any]:
    """Give a command the options of all that change something."""
    key = click.option(
        "--idempotency-key",
        "key",
        type=IdempotencyKey(),
        metavar="KEY",
        default=new_key,
        show_default="a new one",
        help="The same key again never does the same thing twice.",
    )
    yes = click.option("--yes", is_flag=True, help="With a live key: do not ask.")
    return key(yes(json_option(function)))


def source_of(number: str) -> dict[str, Any]:
    """Return the body that makes a source of a test card."""
    card = {"number": number, "exp_month": "12", "exp_year": "2039", "cvc": "123", "name": "Juan dela Cruz"}
    return {"type": "card", "card": card}


@click.group()
def charges() -> None:
    """Make, list, capture, void and refund charges."""


@charges.command(
    epilog=example(
        "kaha charges create 125000 --card 4000000000003055 --description 'Order 1001'",
        "kaha charges create 125000 --source src_… --hold --json",
    )
)
@click.argument("amount", type=Amount())
@click.option("--card", metavar="NUMBER", help="A test card: a source is made of it. In test mode only.")
@click.option("--source", metavar="SOURCE", help="The source to charge, src_….")
@click.option("--currency", default="PHP", show_default=True)
@click.option("--description", default="Made by kaha charges create", show_default=True)
@click.option("--hold", is_flag=True, help="Hold the amount, to capture it later.")
@click.option("--no-auth", is_flag=True, help="Do not ask the payer for 3-D Secure.")
@click.option("--initiator", type=click.Choice(["merchant", "customer"]), help="Who charges a kept source.")
@click.option("--schedule", type=click.Choice(["unscheduled", "recurring"]), help="Whether it is one of a series.")
@changes
@with_client
def create(
    client: Client, card: str | None, source: str | None, key: str, yes: bool, as_json: bool, **given: Any
) -> None:
    """Charge AMOUNT, in the currency's smallest unit: 125000 is PHP 1,250.00."""
    if (card is None) == (source is None):
        raise click.UsageError("Give either --card or --source.")
    if card and client.account.livemode:
        raise Misuse("--card is for test keys. In live mode a browser makes the source: give it by --source.")
    if card:
        # No other card is taken, so that no real one is sent.
        require_test_card(client, card := card.replace(" ", ""))
    currency = str(given["currency"]).upper()
    body = {"amount": given["amount"], "currency": currency, "description": given["description"]}
    body |= ({"capture": False} if given["hold"] else {}) | ({"require_auth": False} if given["no_auth"] else {})
    body |= {name: given[name] for name in ("initiator", "schedule") if given[name]}
    confirm_live(client, lambda: f"{'hold' if given['hold'] else 'charge'} {money(given['amount'], currency)}", yes)
    if card:
        source = _post(client, "/v2/sources/", source_of(card), f"{key}-source", key).json()["id"]
    _do(client, "/v2/charges/", body | {"source": source}, key, as_json)


@charges.command(epilog=example("kaha charges retrieve ch_…"))
@charge_argument
@json_option
@with_client
def retrieve(client: Client, charge: str, as_json: bool) -> None:
    """Show a charge as it is now."""
    show(client.get(f"/v2/charges/{charge}"), as_json, _details)


@charges.command("list", epilog=example("kaha charges list --status failed --limit 5"))
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True)
@click.option("--status", type=click.Choice(["pending", "succeeded", "failed", "voided", "refunded"]))
@click.option("--source", metavar="SOURCE", help="Only charges of this source, src_….")
@click.option("--customer", metavar="CUSTOMER", help="Only charges of this customer, cus_….")
@click.option("--start-after", metavar="CHARGE", help="Begin after this charge, for the next page.")
@json_option
@with_client
def list_charges(client: Client, as_json: bool, **query: Any) -> None:
    """List charges, the newest first."""
    show_page(client.get("/v2/charges/", **query), as_json, _line)


@charges.command(epilog=example("kaha charges capture ch_…", "kaha charges capture ch_… --amount 100000"))
@charge_argument
@click.option("--amount", type=Amount(), help="A part of what is held; the rest is released. Default: all.")
@changes
@with_client
def capture(client: Client, charge: str, amount: int | None, key: str, yes: bool, as_json: bool) -> None:
    """Capture a held charge."""
    body = {} if amount is None else {"amount": amount}
    _change(client, charge, "capture", body, key, yes, as_json)


@charges.command(epilog=example("kaha charges void ch_…"))
@charge_argument
@changes
@with_client
def void(client: Client, charge: str, key: str, yes: bool, as_json: bool) -> None:
    """Void a charge that is held, or captured and not settled yet."""
    _change(client, charge, "void", {}, key, yes, as_json)


@charges.command(
    epilog=example("kaha charges refund ch_…", "kaha charges refund ch_… --amount 25000 --reason 'Out of stock'")
)
@charge_argument
@click.option("--amount", type=Amount(), help="Default: what is left.")
@click.option("--reason", help="Default: requested_by_customer.")
@changes
@with_client
def refund(
    client: Client, charge: str, amount: int | None, reason: str | None, key: str, yes: bool, as_json: bool
) -> None:
    """Refund a captured charge."""
    given = {"amount": amount, "reason": reason}
    body = {name: value for name, value in given.items() if value is not None}
    _change(client, charge, "refund", body, key, yes, as_json)


def _change(client: Client, charge: str, verb: str, body: dict[str, Any], key: str, yes: bool, as_json: bool) -> None:
    def describe() -> str:
        found = client.get(f"/v2/charges/{charge}").json()
        left = found["amount_captured"] - found["amount_refunded"] if verb == "refund" else found["amount"]
        return f"{verb} {money(body.get('amount', left), found['currency'])} of {charge}"

    confirm_live(client, describe, yes)
    _do(client, f"/v2/charges/{charge}/{verb}", body, key, as_json)


def _do(client: Client, path: str, body: dict[str, Any], key: str, as_json: bool) -> None:
    response = _post(client, path, body, key, key)
    with when_done():
        show(response, as_json, _details)


def _post(client: Client, path: str, body: dict[str, Any], idempotency_key: str, given_key: str) -> httpx2.Response:
    try:
        return client.post(path, body, idempotency_key)
    except Failure as failure:
        if failure.may_have_arrived:
            failure.advice = _advice(given_key)
        raise
    except KeyboardInterrupt:
        stopped = Unreachable(client.account.url, "it was stopped before the answer came.")
        stopped.advice = _advice(given_key)
        raise stopped from None


def _advice(key: str) -> str:
    return (
        "\nWhether it was done is not known. Run the same command with this option added, which never does it twice: "
        f"--idempotency-key {shlex.quote(key)}"
    )


def show_page(response: httpx2.Response, as_json: bool, line: Callable[[dict[str, Any]], str]) -> None:
    """Print a page of a list, a line for each object, and say where the next one begins. Raises Unshown."""
    show(response, as_json, lambda page: map(line, page["data"]))
    if not as_json and "next" in (page := response.json()):
        note(f"There are more: --start-after {page['data'][-1]['id']}")


def _state(charge: dict[str, Any]) -> str:
    state = "held" if charge["authorized"] else str(charge["status"])
    refunded = charge["amount_refunded"]
    return f"{state}, {money(refunded, charge['currency'])} refunded" if refunded and state == "succeeded" else state


def _line(charge: dict[str, Any]) -> str:
    amount = money(charge["amount"], charge["currency"])
    cells = (charge["created_at"][:19], charge["id"], f"{amount:>16}", f"{_state(charge):10}", charge["description"])
    return "  ".join(map(printable, cells))


def _details(charge: dict[str, Any]) -> list[str]:
    source, failure, action = charge["source"], charge.get("failure_data"), charge.get("action")
    last4 = source["card"]["last4"] if source.get("card") else ""
    members = {
        "charge": charge["id"],
        "status": _state(charge),
        "amount": money(charge["amount"], charge["currency"]),
        "captured": charge["captured"] and money(charge["amount_captured"], charge["currency"]),
        "source": f"{source['id']} {source['type']} {last4}".rstrip(),
        "created": charge["created_at"],
        "failure": failure and f"{failure['code']}: {failure['reason']}",
        "payer": action and action.get("url") and f"must act at {action['url']}",
    }
    return [f"{name:8} {printable(value)}" for name, value in members.items() if value]

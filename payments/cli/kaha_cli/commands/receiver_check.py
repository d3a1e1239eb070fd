"""`kaha check-receiver`: shows whether a receiver does with events what it must, by eight calls. No kaha is needed."""

import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any

import click

from kaha_cli import profiles
from kaha_cli.command import example
from kaha_cli.output import echo
from kaha_cli.receiver import (
    Outcome,
    check_receiver_url,
    headers_of,
    new_secret,
    secret_option,
    send,
    signing_secret,
)

UNKNOWN_TYPE = "charge.unheard_of"
# Twice what Standard Webhooks' libraries tolerate.
TOO_OLD_SECONDS = 600
TO_TAKE, TO_REFUSE = "it must be answered 2xx", "it must be refused with 4xx, such as 401"


@dataclass(frozen=True)
class Call:
    """An event on its way: a sound receiver answers 2xx where `to_take`, else 4xx."""

    name: str
    to_take: bool
    event_id: str
    body: bytes
    headers: dict[str, str]


@click.command("check-receiver", epilog=example("kaha check-receiver http://localhost:3000/hook"))
@click.argument("url", metavar="URL")
@secret_option
@click.pass_context
def check_receiver(context: click.Context, url: str, secret_file: IO[str] | None) -> None:
    """Send your receiver eight test events, and show which it handles properly.

    They are about charges that do not exist, and signed as kaha signs: a valid one, the same again, two in the wrong
    order, one of a type that is not known, a forged one, an altered one and an old one. Exit code 1 if it handles one
    of them wrongly.
    """
    check_receiver_url(url)
    secret = signing_secret(secret_file, profiles.name_of(context.obj) or profiles.DEFAULT_NAME)
    echo(f"Your webhook secret is {secret}")
    found = [_is_proper(call, send(url, call.body, call.headers)) for call in calls_of(secret)]
    echo(f"{sum(found)} of {len(found)} handled properly.")
    if not all(found):
        context.exit(1)
    echo("Check in the receiver whether the repeated event was handled once.")


def _is_proper(call: Call, outcome: Outcome) -> bool:
    is_proper = outcome.is_taken if call.to_take else 400 <= outcome.status < 500
    wanted = TO_TAKE if call.to_take else TO_REFUSE
    result = "proper" if is_proper else f"WRONG: {wanted} {outcome.reason and f'({outcome.reason})'}".rstrip()
    echo(f"{call.name:40}  {outcome.status or '-':>3}  {outcome.milliseconds} ms  {result}")
    return is_proper


def calls_of(secret: str) -> list[Call]:
    """Return the calls in their order, signed with `secret` where that is what they show."""

    def call(name: str, event: dict[str, Any], to_take: bool = True, key: str = secret, age_seconds: int = 0) -> Call:
        body = json.dumps(event, separators=(",", ":")).encode()
        return Call(name, to_take, event["id"], body, headers_of(key, event["id"], body, age_seconds))

    valid, other = _event(_charge()), _charge()
    unknown = {**_event(_charge()), "type": UNKNOWN_TYPE}
    altered = call("an event that was altered on its way", _event(_charge()), to_take=False)
    return [
        call("a valid event", valid),
        call("the same event again", valid),
        call("an event of another charge, its second", _event(other, sequence=2)),
        call("the first event of that charge, late", _event(other)),
        call("an event of an unknown type", unknown),
        call("a forged event", _event(_charge()), to_take=False, key=new_secret()),
        Call(altered.name, False, altered.event_id, altered.body.replace(b"125000", b"925000"), altered.headers),
        call("an old event, signed 10 minutes ago", _event(_charge()), to_take=False, age_seconds=TOO_OLD_SECONDS),
    ]


def _id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(16)}"


def _now() -> datetime:
    return datetime.now(UTC)


def _event(charge: dict[str, Any], sequence: int = 1) -> dict[str, Any]:
    """Return `charge.created` as the first event of a charge, `charge.succeeded` as its second."""
    succeeded, now = sequence > 1, _now()
    state = {"captured": succeeded, "amount_captured": charge["amount"] if succeeded else 0}
    return {
        "id": _id("evt"),
        "object": "event",
        "type": "charge.succeeded" if succeeded else "charge.created",
        "created": int(now.timestamp()),
        "created_at": f"{now:%Y-%m-%dT%H:%M:%S.%fZ}",
        "livemode": False,
        "data": {"object": charge | state | {"status": "succeeded" if succeeded else "pending"}},
        "request": {"idempotency_key": None},
        "sequence": sequence,
    }


def _charge() -> dict[str, Any]:
    made = {"livemode": False, "created_at": f"{_now():%Y-%m-%dT%H:%M:%S.%fZ}"}
    made["updated_at"] = made["created_at"]
    return {
        "object": "charge",
        "id": _id("ch"),
        "amount": 125000,
        "amount_captured": 0,
        "amount_refunded": 0,
        "authorized": False,
        "captured": False,
        "currency": "PHP",
        "statement_descriptor": "TEST",
        "description": "Not a charge: sent to test your receiver",
        "source": {
            "object": "source",
            "id": _id("src"),
            "type": "card",
            "card": {
                "object": "card",
                "id": _id("card"),
                "name": "Juan dela Cruz",
                "last4": "4242",
                "exp_month": "12",
                "exp_year": "2039",
                "brand": "visa",
                "country": "US",
                "cvc_checked": "unchecked",
                "checked": False,
                "funding": "credit",
                "issuing_bank": "Test Bank",
            },
            "vaulted": False,
            "used": True,
            **made,
            "metadata": {},
            "require_auth": True,
        },
        "require_auth": True,
        "disputed": False,
        "refunds": [],
        "status": "pending",
        **made,
        "metadata": {"sent_by": "check-receiver"},
    }

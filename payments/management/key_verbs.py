"""The verbs of `manage.py merchant` for API keys."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from payments import clock
from payments.domain.approvals.limits import BadRules, parse_rules
from payments.domain.merchants import api_keys, merchants
from payments.domain.merchants.origins import BadOrigins, set_origins
from payments.domain.merchants.scopes import RIGHTS
from payments.ids import public_id
from payments.management import arguments
from payments.management.tables import NOTHING, in_columns, utc
from payments.models import ApiKey

HEADINGS = ("ID", "KEY", "STATE", "LAST USED", "RIGHTS", "WORKS FROM", "MERCHANT")
KEY_HELP = (
    "the key's ID (key_…), its last four characters or its masked form as list-keys shows it; "
    "- reads the key itself from standard input, which keeps it out of the shell history"
)
REFUSALS = (BadRules, api_keys.BadKey, api_keys.KeyInactive, BadOrigins)


def _takes_new_key(parser: ArgumentParser) -> None:
    parser.add_argument("merchant", help=arguments.MERCHANT_HELP)
    parser.add_argument("--mode", required=True, choices=list(merchants.MODES))
    parser.add_argument("--kind", required=True, choices=ApiKey.Kind.values)
    lists: dict[str, Any] = {"type": arguments.words, "default": []}
    rights = f"what a restricted or an assistant's key may do: any of {', '.join(RIGHTS)}"
    parser.add_argument("--rights", **lists, metavar="charges:read,refunds:write", help=rights)
    rules = "what an assistant's key may ask for: refund, or refund PHP 1000.00 5000.00 (needs nobody up to so much)"
    parser.add_argument("--ask", action="append", default=[], metavar="RULE", help=rules)
    networks = "the networks from which it works (default: all)"
    parser.add_argument("--allow", **lists, metavar="10.0.0.0/8,2001:db8::/32", help=networks)
    end = "when it stops working (default: never)"
    parser.add_argument("--expires", type=arguments.duration, metavar="30d", help=end)


def _create_key(options: dict[str, Any]) -> Iterator[str]:
    owner, expires = arguments.merchant_named(options["merchant"]), options["expires"]
    end = clock.now() + expires if expires is not None else None
    livemode = merchants.MODES[options["mode"]]
    limits = {"rights": options["rights"], "networks": options["allow"], "rules": parse_rules(options["ask"])}
    yield _new_key(*api_keys.create_key(owner, livemode, options["kind"], end, **limits))


def _new_key(key: ApiKey, text: str) -> str:
    lines = [f"{'id':12}{public_id('key', key.id)}", f"{'key':12}{text}"]
    lines += [f"{'rights':12}{', '.join(key.rights)}"] if key.rights else []
    lines += [f"{'works from':12}{', '.join(key.allowed_networks)}"] if key.allowed_networks else []
    if key.kind != ApiKey.Kind.PUBLISHABLE:
        lines += ["", "Keep it now: it is shown only this once."]
    return "\n".join(lines)


def _takes_merchant_or_none(parser: ArgumentParser) -> None:
    parser.add_argument("merchant", nargs="?", help=f"{arguments.MERCHANT_HELP} (default: all merchants)")


def _list_keys(options: dict[str, Any]) -> Iterator[str]:
    found = ApiKey.objects.select_related("merchant").order_by("merchant_id", "id")
    if options["merchant"] is not None:
        found = found.filter(merchant=arguments.merchant_named(options["merchant"]))
    yield "\n".join(in_columns([HEADINGS, *map(_cells, found)]))


def _cells(key: ApiKey) -> tuple[object, ...]:
    rights = ",".join(key.rights) or NOTHING
    networks = ",".join(key.allowed_networks) or "everywhere"
    used = utc(key.last_used_at)
    return public_id("key", key.id), key, _state_of(key), used, rights, networks, key.merchant


def _state_of(key: ApiKey) -> str:
    """Return whether `key` works, and until or since when."""
    if key.revoked_at:
        return f"revoked {clock.iso(key.revoked_at)}"
    if key.expires_at is None:
        return "active"
    return f"{'expired' if key.expires_at <= clock.now() else 'expires'} {clock.iso(key.expires_at)}"


def _key_named(text: str) -> ApiKey:
    """Return the key that `KEY_HELP` describes; raise NotOne."""
    return api_keys.find_key(sys.stdin.readline().strip() if text == "-" else text)


def _takes_key_to_roll(parser: ArgumentParser) -> None:
    parser.add_argument("key", help=KEY_HELP)
    add_overlap(parser, "how long the old key still works")


def add_overlap(parser: ArgumentParser, what: str) -> None:
    """Declare `--overlap`; `what` says of what it is the time."""
    words = f"{what} (default: 24h); an earlier end stays"
    parser.add_argument("--overlap", type=arguments.duration, default=timedelta(hours=24), metavar="24h", help=words)


def _roll_key(options: dict[str, Any]) -> Iterator[str]:
    old = _key_named(options["key"])
    yield _new_key(*api_keys.roll_key(old, options["overlap"]))
    old.refresh_from_db()
    yield f"{'old key':12}{old} {_state_of(old)}"


def _takes_key(parser: ArgumentParser) -> None:
    parser.add_argument("key", help=KEY_HELP)


def _revoke_key(options: dict[str, Any]) -> Iterator[str]:
    found = _key_named(options["key"])
    note = "" if api_keys.revoke_key(found) else ", before this"
    found.refresh_from_db()
    yield f"{found} of {found.merchant}: {_state_of(found)}{note}"


def _takes_origins(parser: ArgumentParser) -> None:
    _takes_key(parser)
    words = "all origins that may use it from now on, such as https://shop.example; none for no list"
    parser.add_argument("origins", nargs="*", metavar="ORIGIN", help=words)


def _set_origins(options: dict[str, Any]) -> Iterator[str]:
    found = _key_named(options["key"])
    origins = set_origins(found, options["origins"])
    yield f"{found} may be used by pages of: {', '.join(origins) or 'any origin, with card fields in test mode only'}"


# Each verb with its help, its arguments and its function.
VERBS = {
    "create-key": ("Creates another API key of a merchant and shows it.", _takes_new_key, _create_key),
    "list-keys": (
        "Lists API keys, masked, each with its state, limits and last use: of one merchant, or of all.",
        _takes_merchant_or_none,
        _list_keys,
    ),
    "roll-key": (
        "Replaces an API key: shows a new one, and the old one still works for a while.",
        _takes_key_to_roll,
        _roll_key,
    ),
    "revoke-key": (
        "Revokes an API key at once, everywhere. This cannot be undone: create a new key instead.",
        _takes_key,
        _revoke_key,
    ),
    "set-origins": (
        "Sets the origins of the pages that may use a publishable key. Replaces those it had.",
        _takes_origins,
        _set_origins,
    ),
}

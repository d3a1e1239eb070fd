"""What several commands take on their command line, and how."""

import argparse
import re
import sys
from datetime import UTC, datetime, timedelta

from django.core.management.base import CommandError

from payments import clock
from payments.domain.merchants import api_keys, merchants
from payments.domain.row_lookup import NotOne
from payments.ids import public_id
from payments.models import ApiKey, Merchant

DURATION = re.compile(r"([0-9]{1,6})([smhd])")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
KEY_HELP = (
    "the key's ID (key_…), its last four characters or its masked form as list_keys shows it; "
    "- reads the key itself from standard input, so that it is left in no shell history"
)
MERCHANT_HELP = "the merchant's ID (mer_…) or title"


def duration(text: str) -> timedelta:
    """A number and a unit, such as 90s, 30m, 24h or 90d, for argparse."""
    match = DURATION.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number with s, m, h or d, such as 90s, 30m, 24h or 90d")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def words(text: str) -> list[str]:
    """Words separated by commas, for argparse."""
    return [word.strip() for word in text.split(",")]


def moment(text: str) -> datetime:
    """A time in ISO 8601, in UTC where it names no zone, or how long ago as a number and a unit, for argparse."""
    if DURATION.fullmatch(text):
        return clock.now() - duration(text)
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 2026-11-21, 2026-11-21T10:30Z or 24h") from None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def merchant_named(text: str) -> Merchant:
    """The merchant of this ID or title. Raises CommandError."""
    try:
        return merchants.find_merchant(text)
    except NotOne as fault:
        raise CommandError(str(fault)) from None


def key_named(text: str) -> ApiKey:
    """The key that `KEY_HELP` describes. Raises CommandError."""
    try:
        return api_keys.find_key(sys.stdin.readline().strip() if text == "-" else text)
    except NotOne as fault:
        raise CommandError(str(fault)) from None


def state_of(key: ApiKey) -> str:
    """Whether `key` works, and until or since when."""
    if key.revoked_at:
        return f"revoked {clock.iso(key.revoked_at)}"
    if key.expires_at is None:
        return "active"
    return f"{'expired' if key.expires_at <= clock.now() else 'expires'} {clock.iso(key.expires_at)}"


def new_key_text(key: ApiKey, text: str) -> str:
    """What is said once of a new key, whose `text` this is."""
    lines = [f"{'id':12}{public_id('key', key.id)}", f"{'key':12}{text}"]
    lines += [f"{'rights':12}{', '.join(key.rights)}"] if key.rights else []
    lines += [f"{'works from':12}{', '.join(key.allowed_networks)}"] if key.allowed_networks else []
    if key.kind != ApiKey.Kind.PUBLISHABLE:
        lines += ["", "Keep it now: it is shown only this once."]
    return "\n".join(lines)

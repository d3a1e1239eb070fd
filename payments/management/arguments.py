"""Arguments that several commands share."""

import argparse
import re
from datetime import datetime, timedelta

from django.core.management.base import CommandError

from payments import clock
from payments.domain.merchants import merchants
from payments.domain.merchants.row_lookup import NotOne
from payments.models import Merchant
from payments.typed_text import read_moment, read_whole_number

DURATION = re.compile(r"([0-9]{1,6})([smhd])")
# As PostgreSQL writes a moment: 2026-11-21 13:30:59.123456+00.
OF_POSTGRES = re.compile(r"([0-9-]{10}) ([0-9:.]{5,15}[+\-][0-9]{2})(:[0-9]{2})?")
# The first and the last year that there are cannot be shown in every time zone.
YEARS = range(1970, 9999)
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
MERCHANT_HELP = "the merchant's ID (mer_…) or title"


def duration(text: str) -> timedelta:
    """Return a duration such as 90s, 30m, 24h or 90d, for argparse."""
    match = DURATION.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number with s, m, h or d, such as 90s, 30m, 24h or 90d")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def whole_number(text: str) -> int:
    """Return a number of 0 or more in digits alone, for argparse."""
    try:
        return read_whole_number(text)
    except ValueError as fault:
        raise argparse.ArgumentTypeError(str(fault)) from None


def words(text: str) -> list[str]:
    """Return words separated by commas, for argparse."""
    return [word.strip() for word in text.split(",")]


def moment(text: str) -> datetime:
    """Return an ISO 8601 time (UTC without a zone), or the time a duration such as 24h ago, for argparse."""
    if written := OF_POSTGRES.fullmatch(text):
        text = f"{written[1]}T{written[2]}{written[3] or ':00'}"
    try:
        read = clock.now() - duration(text) if DURATION.fullmatch(text) else read_moment(text)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 2026-11-21, 2026-11-21T10:30Z or 24h") from None
    if read.year not in YEARS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of the years {YEARS[0]} to {YEARS[-1]}")
    return read


def merchant_named(text: str) -> Merchant:
    """Return the merchant with this ID or title; raise CommandError."""
    try:
        return merchants.find_merchant(text)
    except NotOne as fault:
        raise CommandError(str(fault)) from None

"""Who writes a statement: the company that runs kaha, and where it is."""

from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings


class Letterhead(NamedTuple):
    """The name and the host at the top of a statement."""

    name: str
    host: str


def letterhead() -> Letterhead:
    """Return the holder of the accounts that payouts are paid from, kaha where none is set, and kaha's host."""
    return Letterhead(settings.PAYOUT_DEBTOR_NAME or "kaha", urlsplit(settings.PUBLIC_URL).hostname or "")

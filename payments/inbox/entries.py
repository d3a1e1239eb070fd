"""An entry of the inbox, and a sort of entries."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from payments import clock
from payments.models.merchants.merchant_access import Limit

COUNTED_MAX = 1_000
# The pages of our tables; what is below the pages cannot ask the URL configuration.
PAGES = "/admin/payments"
ON_CALL = "/admin/on-call/"
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that needs attention. `key` is the same each time that it is read, and no other's."""

    key: str
    what: str
    merchant: str
    address: str
    amount: str = ""
    livemode: bool | None = None
    # When it began, or when it must be done: one of them is enough.
    since: datetime | None = None
    until: datetime | None = None
    # What is done until then: "expires in 3 h".
    ends: str = "expires"

    @property
    def when(self) -> str:
        """Return the time that is left, or for how long it needs attention, in words."""
        now = clock.now()
        if self.until is not None:
            left = self.until - now
            return f"{self.ends} in {in_words(left)}" if left > timedelta() else f"over since {in_words(-left)}"
        return f"for {in_words(now - self.since)}" if self.since else ""

    @property
    def mode(self) -> str:
        return "" if self.livemode is None else "live" if self.livemode else "test"


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of entries: the permission that its list needs, the list's model and filters, and what reads it."""

    name: str
    label: str
    model: str
    read: Callable[[Limit, int], Iterable[Entry]]
    filters: str = ""
    # The rows of the full list, where it can be longer than what is shown.
    rows: Callable[[Limit], QuerySet[Any]] | None = None
    # The page that shows them, where it is no list of the model.
    page: str = ""
    # Whether `what` is about no merchant and no payer, so that messages may say it.
    names_nobody: bool = False
    # What an operator must be allowed to do with the model.
    right: str = "view"

    @property
    def permission(self) -> str:
        return f"payments.{self.right}_{self.model}"

    @property
    def address(self) -> str:
        """Return the address of the full list."""
        return self.page or list_of(self.model) + (f"?{self.filters}" if self.filters else "")


@dataclass(frozen=True, slots=True)
class Section:
    """The entries of a sort that are shown, and how many there are, at most COUNTED_MAX + 1."""

    sort: Sort
    entries: Sequence[Entry]
    count: int

    @property
    def count_text(self) -> str:
        return f"more than {COUNTED_MAX:,}" if self.count > COUNTED_MAX else f"{self.count:,}"

    @property
    def has_more(self) -> bool:
        return self.count > len(self.entries)


def list_of(model: str) -> str:
    """Return the path of the list of a model."""
    return f"{PAGES}/{model}/"


def page_of(model: str, pk: object, step: str = "change") -> str:
    """Return the path of a row's page, or of another step with it."""
    return f"{PAGES}/{model}/{pk}/{step}/"


def in_words(time: timedelta) -> str:
    """Return a duration in its two largest units, or the larger alone: `3 h 12 min`, `2 d`, `45 s`."""
    for large, small, units in ((DAY, HOUR, ("d", "h")), (HOUR, MINUTE, ("h", "min"))):
        if time >= large:
            rest = time % large // small
            return f"{time // large} {units[0]}" + (f" {rest} {units[1]}" if rest else "")
    return f"{time // MINUTE} min" if time >= MINUTE else f"{max(0, time // timedelta(seconds=1))} s"

"""The inbox of one operator in short: what is most urgent of all sorts, how much waits, and what is well."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from threading import Lock

from cachetools import TTLCache
from django.contrib.auth.models import User
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from payments import clock
from payments.inbox import decisions
from payments.inbox.entries import COUNTED_MAX, DAY, HOUR, MINUTE, Entry, Sort
from payments.inbox.entry_texts import decision_entry
from payments.inbox.sorts import APPROVALS, SORTS
from payments.models.merchants.merchant_access import Limit

SHOWN_MAX = 8
# To count costs as much as a page, so other pages than home and inbox rarely do.
KEPT_SECONDS, KEPT_COUNT = 300.0, 1_000
_counts: TTLCache[tuple[int, Limit], int] = TTLCache(KEPT_COUNT, KEPT_SECONDS)
_lock = Lock()
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True, slots=True)
class Summary:
    """The entries to begin with, the most urgent one, how many things wait in all, and the sorts with nothing to do."""

    entries: Sequence[Entry]
    first: Entry | None
    count: int
    well: Sequence[Sort]

    @property
    def is_work(self) -> bool:
        """Return whether any of it is about money, and not about the service or its settings alone."""
        return any(entry.mode for entry in self.entries)

    @property
    def headline(self) -> str:
        """Return how much waits, and until when the first: `Seven things need you, the first within 52 minutes`."""
        if not self.count:
            return _("Nothing needs you now")
        when = _within(self.first) if self.first else ""
        first = _("the first {when}").format(when=when) if when and self.count > 1 else when
        things = ngettext("one thing needs you", "{count} things need you", self.count)
        return capfirst(", ".join(filter(None, (things.format(count=in_number(self.count)), first))))


def summary_of(user: User, limit: Limit, livemode: bool, sorts: Sequence[Sort] = SORTS) -> Summary:
    """Return the summary of `sorts` for `user`; of requests it has those that they may decide or take.

    What is of the mode comes before what is of the other one; but live money with a deadline waits behind no test.
    """
    entries = [decision_entry(each, "decide") for each in decisions.to_decide(user, limit)]
    entries += map(decision_entry, decisions.to_take(user, limit))
    count, well = len(entries), []
    for sort in sorts:
        if sort.name == APPROVALS or not user.has_perm(sort.permission):
            continue
        section = sort.section(limit, SHOWN_MAX, livemode).grouped(2 * SHOWN_MAX).offered_to(user)
        entries += section.in_one
        count += section.things
        well += [] if section.count else [sort]
    keep_count(user, limit, count)
    in_order = sorted(entries, key=lambda entry: (_is_of_other(entry, livemode), *entry.rank))
    return Summary(in_order[:SHOWN_MAX], min(entries, key=attrgetter("rank"), default=None), count, well)


def _is_of_other(entry: Entry, livemode: bool) -> bool:
    return entry.livemode is not None and entry.livemode != livemode and not (entry.livemode and entry.urgency)


def keep_count(user: User, limit: Limit, count: int) -> None:
    """Keep how much waits for `user`, as it was just counted."""
    with _lock:
        _counts[user.pk, limit] = count


def count_of(user: User, limit: Limit) -> int:
    """Return how much waits for `user`, as this process counted it within KEPT_SECONDS: every page says it."""
    with _lock:
        known = _counts.get((user.pk, limit))
    return summary_of(user, limit, livemode=True).count if known is None else known


def in_number(count: int) -> str:
    """Return a number as a word up to twelve, and as `more than 1,000` where nobody counted on."""
    if count < len(NUMBERS):
        return _(NUMBERS[count])
    return _("more than {count}").format(count=f"{COUNTED_MAX:,}") if count > COUNTED_MAX else f"{count:,}"


def _within(first: Entry) -> str:
    if first.at_once:
        return _("at once")
    if first.until is None:
        return ""
    left = first.until - clock.now()
    if left <= timedelta():
        return _("overdue")
    unit, name = (DAY, "day") if left > DAY else (HOUR, "hour") if left > HOUR else (MINUTE, "minute")
    count = -(-left // unit)
    return ngettext(f"within {{count}} {name}", f"within {{count}} {name}s", count).format(count=count)

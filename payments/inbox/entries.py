"""An entry of the inbox, and a sort of entries."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import FieldError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext, pgettext_lazy

from payments import clock
from payments.models import Charge
from payments.models.merchants.merchant_access import Limit
from payments.money import shown_amount

COUNTED_MAX = 1_000
# So many of a sort are one row of the first page, where the sort has words for them.
LEAST_TOGETHER = 3
# The pages of our tables; what is below the pages cannot ask the URL configuration.
PAGES = "/admin/payments"
ON_CALL = "/admin/on-call/"
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# The action of those who may only look.
OPEN = pgettext_lazy("act", "Open")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that needs attention. `key` is the same each time that it is read, and no other's of its sort."""

    key: str
    what: str
    merchant: str
    address: str
    # Who and what it is about: payer and order where it has a charge.
    about: str = ""
    amount: str = ""
    livemode: bool | None = None
    # When it began, or when it must be done: one of them is enough.
    since: datetime | None = None
    until: datetime | None = None
    # Whether it cannot wait, whatever its time.
    at_once: bool = False
    # How many equal ones a row of the page stands for.
    times: int = 1
    # What to do about it, in one verb, and where.
    act: Any = OPEN
    act_at: str = ""

    @property
    def names(self) -> str:
        """Return payer, order and merchant, as far as they are known."""
        return ", ".join(filter(None, (self.about, self.merchant)))

    @property
    def when(self) -> str:
        """Return the time that is left, or for how long it waits, in words."""
        now = clock.now()
        if self.until is not None:
            left = self.until - now
            text = _("{time} left") if left > timedelta() else _("{time} overdue")
            return text.format(time=in_words(abs(left)))
        if self.since is None:
            return _("now") if self.at_once else _("no deadline")
        return _("waiting {time}").format(time=in_words(now - self.since))

    @property
    def urgency(self) -> str:
        """Return `now` for what cannot wait an hour, `soon` for what cannot wait a day; empty for all else."""
        left = DAY if self.until is None else self.until - clock.now()
        return "now" if self.at_once or left < HOUR else "soon" if left < DAY else ""

    @property
    def rank(self) -> tuple[int, datetime]:
        """Return its place among others: what cannot wait, then by deadline, then what waits for longest."""
        return 0 if self.at_once else 1 if self.until else 2, self.until or self.since or clock.now()

    @property
    def mode(self) -> str:
        return "" if self.livemode is None else "live" if self.livemode else "test"


@dataclass(frozen=True, slots=True)
class Section:
    """The entries of a sort that were read, and how many there are, at most COUNTED_MAX + 1."""

    sort: "Sort"
    entries: Sequence[Entry]
    count: int

    @property
    def count_text(self) -> str:
        return (
            _("more than {count}").format(count=f"{COUNTED_MAX:,}") if self.count > COUNTED_MAX else f"{self.count:,}"
        )

    @property
    def things(self) -> int:
        """Return how many things these are to do; equal ones, and many in one row, are one."""
        return 1 if len(self.in_one) == 1 else self.count

    def grouped(self, most: int) -> "Section":
        """Return at most `most` of its entries, the equal ones as one, in the place of the first."""
        found: dict[object, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault((entry.what, entry.address, entry.merchant, entry.amount, entry.livemode), []).append(
                entry
            )
        first = [replace(equal[0], times=len(equal)) for equal in found.values()]
        return replace(self, entries=first[:most])

    def offered_to(self, user: User) -> "Section":
        """Return the entries with what `user` may do about each."""
        sort = self.sort
        if sort.act_right and not user.has_perm(f"payments.{sort.act_right}"):
            return self
        way = ("/change/", f"/{sort.step}/")
        return replace(
            self,
            entries=[
                replace(each, act=pgettext("act", sort.act), act_at=each.address.replace(*way)) for each in self.entries
            ],
        )

    @property
    def in_one(self) -> Sequence[Entry]:
        """Return its entries, or one about all of them where that is enough."""
        if not self.sort.together or self.count < LEAST_TOGETHER:
            return self.entries
        first, what, at = self.entries[0], _(self.sort.together).format(self.count_text), self.sort.address
        return [Entry(first.key, what, "", at, since=first.since, act=first.act)]


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of entries: its rows, most urgent first, what is shown of one, and the model of the full list.

    A row has a page of its own, and its entry is read from the columns named here; `entry` makes that of other rows.
    """

    name: str
    label: str
    model: str
    # A QuerySet or a list; only what is shown is read of it.
    rows: Callable[[Limit], Any]
    # The text, with the row as its one value, and who or what it is about.
    what: str | Callable[[Any], str] = ""
    about: Callable[[Any], str] = lambda _: ""
    # What to do about one, the right to do so, and the page for it where that is another than its own.
    act: Any = "See why"
    act_right: str = ""
    step: str = "change"
    # The text of the first page about many, with their number as its one value, where one row is enough for them.
    together: str = ""
    # What is well while there are none; empty where nobody would ask.
    well: str = ""
    filters: str = ""
    # What has the row's merchant, mode and currency, if the row itself has not.
    owner: str = ""
    since: str = "created_at"
    until: str = ""
    at_once: bool = False
    # The column by which a row needs attention anew.
    again: str = ""
    page: Callable[[Any], str] | None = None
    entry: Callable[[Any], Entry] | None = None
    # The page that shows them, where it is no list of the model.
    all_at: str = ""
    # Whether the text is about no merchant and no payer, so that messages may say it.
    is_impersonal: bool = False
    # What an operator must be allowed to do with the model.
    right: str = "view"

    @property
    def permission(self) -> str:
        return f"payments.{self.right}_{self.model}"

    @property
    def address(self) -> str:
        """Return the address of the full list."""
        return self.all_at or list_of(self.model) + (f"?{self.filters}" if self.filters else "")

    def section(self, limit: Limit, most: int, livemode: bool | None = None) -> Section:
        """Return the first `most` entries at the merchants in `limit`, and how many there are.

        With `livemode` the first of that mode are among them, so that they can be shown before all others.
        """
        rows = self.rows(limit)
        shown = list(rows[:most])
        count = len(shown)
        if count == most:
            if isinstance(rows, QuerySet) and livemode is not None:
                shown += [row for row in self._of_mode(rows, livemode)[:most] if row not in shown]
            count = rows.order_by()[: COUNTED_MAX + 1].count() if isinstance(rows, QuerySet) else len(rows)
        entries = map(self.entry or self._entry, shown)
        named = [replace(entry, key=f"{self.name}:{entry.key}", at_once=self.at_once) for entry in entries]
        return Section(self, named, count)

    def _of_mode(self, rows: QuerySet[Any], livemode: bool) -> QuerySet[Any]:
        """Return those of the mode; none where it is no column of theirs."""
        with suppress(FieldError):
            return rows.filter(**{f"{self.owner}__livemode" if self.owner else "livemode": livemode})
        return rows.none()

    def _entry(self, row: Any) -> Entry:
        owner = getattr(row, self.owner) if self.owner else row
        merchant, amount = getattr(owner, "merchant", None), getattr(row, "amount", None)
        return Entry(
            key=f"{row.pk}:{getattr(row, self.again)}" if self.again else f"{row.pk}",
            what=_(self.what).format(row) if isinstance(self.what, str) else self.what(row),
            merchant=merchant.title if merchant else "",
            address=self.page(row) if self.page else page_of(row._meta.model_name, row.pk),
            about=self.about(row),
            amount=shown_amount(amount, getattr(row, "currency", None) or owner.currency) if amount else "",
            livemode=getattr(owner, "livemode", None),
            since=None if self.until else attrgetter(self.since)(row),
            until=getattr(row, self.until) if self.until else None,
        )


def about_charge(row: Any) -> str:
    """Return payer and order of a charge, or of the charge of another row; empty where it has none."""
    charge = row if isinstance(row, Charge) else row.charge
    return ", ".join(filter(None, (charge.source.payer_name, charge.description))) if charge else ""


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

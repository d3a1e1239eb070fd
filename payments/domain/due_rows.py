"""Rows that are due: claimed by a lease, put off, ended. The only lease of the domain.

A row's due column says when it is claimed next; a claim moves it to the end of a lease. So other workers pass the row
by, and a worker that dies leaves it to them. Whatever changes the row afterwards must find the due column as the claim
left it: it hits no row where the lease has expired and another worker has claimed it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet

from payments import clock

LOOKUP_DELAYS_SECONDS = (5, 30, 120, 600, 3600)
# 10 minutes, an hour and a day after an attempt was given up.
SECOND_LOOK_DELAYS_SECONDS = (600, 3000, 82_800)
Row = TypeVar("Row", bound=Model)


def next_lookup_at(now: datetime, tries: int) -> datetime:
    """Return the moment of the lookup that follows `tries` lookups: soon at first, hourly in the end."""
    return _after(now, LOOKUP_DELAYS_SECONDS, tries)


def next_second_look_at(now: datetime, tries: int) -> datetime:
    """Return the moment at which an attempt that was given up is looked up again, after `tries` such lookups."""
    return _after(now, SECOND_LOOK_DELAYS_SECONDS, tries)


def _after(now: datetime, delays_seconds: Sequence[int], tries: int) -> datetime:
    return now + timedelta(seconds=delays_seconds[min(tries, len(delays_seconds) - 1)])


@dataclass(frozen=True, slots=True)
class DueRows:
    """How the due rows of a table are claimed.

    `lease` is longer than the work on a row; a worker that takes longer counts as dead. `due` is the due column, and
    `same` are the other columns that a change must find as they were read.
    """

    lease: timedelta = timedelta()
    due: str = "due_at"
    same: tuple[str, ...] = ("merchant_id",)

    @transaction.atomic
    def claim(
        self, rows: QuerySet[Row], counted: Callable[[Row], Mapping[str, Any]] = lambda _: {}, limit: int = 1
    ) -> list[Row]:
        """Claim at most `limit` of `rows` that are due, those first that are due for longest; return them.

        `counted` returns what else the claim sets in a row, such as its number of tries; the same columns in each.
        """
        now = clock.now()
        due = rows.filter(**{f"{self.due}__lte": now}).order_by(self.due)
        claimed = list(due.select_for_update(skip_locked=True, no_key=True, of=("self",))[:limit])
        for row in claimed:
            values = {self.due: now + self.lease, **counted(row)}
            for name, value in values.items():
                setattr(row, name, value)
        if claimed:
            rows.model._base_manager.bulk_update(claimed, list(values))
        return claimed

    def held(self, row: Model) -> dict[str, Any]:
        """Return what a claimed row holds until another worker claims or changes it."""
        return {name: getattr(row, name) for name in (self.due, *self.same)}

    def change(self, *rows: Model, **values: Any) -> int:
        """Change a claimed row, or rows of one claim; return how many were still held."""
        held = type(rows[0])._base_manager.filter(id__in=[row.pk for row in rows], **self.held(rows[0]))
        return held.update(**values)

    def put_off(self, *rows: Model, until: datetime, **values: Any) -> int:
        """Let claimed rows be due at `until`, as `change` does."""
        return self.change(*rows, **{self.due: until}, **values)

    def renew(self, row: Model, **values: Any) -> bool:
        """Begin the lease of a claimed row anew, as `change` does; return whether it was still held."""
        until = clock.now() + self.lease
        is_held = bool(self.put_off(row, until=until, **values))
        if is_held:
            setattr(row, self.due, until)
        return is_held

    def end(self, *rows: Model, **values: Any) -> int:
        """Let claimed rows be due no more, as `change` does."""
        return self.change(*rows, **{self.due: None}, **values)

"""Sweeps that go row by row: merchants in turn, until nothing is due, and past the rows that fail."""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import Error, connection
from django.db.models import Case, DateTimeField, F, IntegerField, Model, QuerySet, UUIDField, Value, When, Window
from django.db.models.functions import Coalesce, RowNumber

from payments import clock
from payments.db.writes import StaleRow

logger = logging.getLogger("kaha.sweeps")

Row = TypeVar("Row", bound=Model)
BATCH = 100
# A run that takes longer leaves the rest to the next one, so that other sweeps get the threads of the worker.
RUN_SECONDS = 20.0
# How long this process leaves a row alone that failed once, twice and so on. The row itself stays due, so the doctor
# shows the sweep as behind.
PAUSES_SECONDS = (30.0, 120.0, 600.0, 3600.0)
# So many rows of a sweep are put off at most; any more are tried at each run.
PUT_OFF_MAX = 1_000
# By sweep and row: how often it failed, and the moment until which it is put off.
_failures: dict[str, dict[Hashable, tuple[int, float]]] = defaultdict(dict)
# By sweep and merchant: how many seconds its rows took, beyond what those of all took, since nothing was due.
_taken: dict[str, dict[UUID, float]] = defaultdict(dict)


class Moment(Value):
    """The time at which a statement is made: what comes due during a run does not wait for the next one."""

    def __init__(self) -> None:
        super().__init__(None, DateTimeField())

    def as_sql(self, *args: Any, **named: Any) -> Any:
        """Return the SQL of the clock's time."""
        self.value = clock.now()
        return super().as_sql(*args, **named)


def each_in_turn(rows: QuerySet[Row], order: str, act: Callable[[Row], int]) -> int:
    """Let `act` deal with each of `rows`, which are those that are due; return the sum of what it returned.

    The first row of each merchant comes before the second of any, so that the many rows of one delay nobody else's. Nor
    do slow ones: first come those merchants whose rows took the fewest seconds, in this run or those before. A row that
    `act` leaves due is tried once in a run, and one that raises is dealt with as `alone` says.
    """
    # Mostly none is, and to compile this takes the ORM a third of what the query below does.
    if not rows.exists():
        return 0
    sweep, ends_at, total = f"{act.__module__}.{act.__qualname__}", time.monotonic() + RUN_SECONDS, 0
    taken = _taken[sweep]
    tried, left = set[Hashable](), {key for key in list(_failures[sweep]) if _is_put_off(sweep, key)}
    while batch := list(_in_turn(rows, order, taken).exclude(pk__in=left)[:BATCH]):
        # What all have taken counts no more.
        if least := batch[0].turn_seconds:
            _taken[sweep] = taken = {each: took - least for each, took in [*taken.items()] if took > least}
        for row in batch:
            if (began := time.monotonic()) > ends_at:
                return total
            if int(taken.get(row.turn_of, 0)) > row.turn_seconds - least:
                # Others come first now.
                break
            if row.pk in tried:
                left.add(row.pk)
            else:
                tried.add(row.pk)
                total += alone(sweep, row.pk, partial(act, row))
                taken[row.turn_of] = taken.get(row.turn_of, 0) + time.monotonic() - began
    taken.clear()
    return total


def _in_turn(rows: QuerySet[Any], order: str, taken: dict[UUID, float]) -> QuerySet[Any]:
    whole = [When(turn_of=each, then=int(took)) for each, took in [*taken.items()] if took >= 1]
    annotated = rows.annotate(
        # Rows of no merchant have turns as those of one have.
        turn_of=Coalesce("merchant_id", Value(UUID(int=0)), output_field=UUIDField()),
        turn=Window(RowNumber(), partition_by=F("turn_of"), order_by=order),
        turn_seconds=Case(*whole, default=0, output_field=IntegerField()),
    )
    return annotated.order_by("turn_seconds", "turn", order)


def alone(sweep: str, key: Hashable, act: Callable[[], int]) -> int:
    """Return what `act` returns about the row `key`; 0 where it raises, which is logged and puts the row off.

    So one row that cannot be dealt with stops no other. Raise Error where the database does not answer.
    """
    if _is_put_off(sweep, key):
        return 0
    failures = _failures[sweep]
    try:
        result = act()
    except StaleRow:
        # Another process was first.
        return 0
    except Exception as error:
        if isinstance(error, Error) and not connection.is_usable():
            raise
        times, _ = failures.get(key, (0, 0.0))
        if len(failures) >= PUT_OFF_MAX:
            # Those whose pause has passed begin anew, and rows that are gone are forgotten.
            _failures[sweep] = failures = {each: failures[each] for each in failures if _is_put_off(sweep, each)}
        if times or len(failures) < PUT_OFF_MAX:
            pause = PAUSES_SECONDS[min(times, len(PAUSES_SECONDS) - 1)]
            failures[key] = (times + 1, time.monotonic() + pause)
        logger.exception("row of a sweep failed", extra={"sweep": sweep, "row": str(key)})
        return 0
    failures.pop(key, None)
    return result


def _is_put_off(sweep: str, key: Hashable) -> bool:
    _, until = _failures[sweep].get(key, (0, 0.0))
    return until > time.monotonic()

"""How many rows a filtered list has, and the sum of their amounts in each currency."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import F

from payments.money import shown_amount

# Above it a list is not counted: the page would wait for it.
MOST_SUMMED = 50_000
# A list that takes longer is as one that is too long.
STATEMENT_TIMEOUT = "700ms"


@dataclass(frozen=True, slots=True)
class Sums:
    """The number of rows, None for more than MOST_SUMMED; where rows have amounts, (sum, number) in each currency."""

    count: int | None
    amounts: Sequence[tuple[str, int]] = ()


def sums_of(changelist: Any) -> Sums:
    """Return the sums of all pages of a list."""
    if changelist.is_long:
        return Sums(None)
    columns = changelist.model_admin.sum_of
    values = {"summed_currency": F(columns[1]), "summed_amount": F(columns[0])} if columns else {"summed_pk": F("pk")}
    rows = changelist.queryset.order_by().values(**values)[: MOST_SUMMED + 1]
    found = _in_time(_statement(rows, columns is not None))
    count = None if found is None else sum(number for _, _, number in found)
    if found is None or count is None or count > MOST_SUMMED:
        return Sums(None)
    shown = [(shown_amount(int(total), code), number) for code, total, number in found if code]
    return Sums(count, shown)


def _statement(rows: Any, has_amounts: bool) -> tuple[str, Sequence[Any]]:
    """Return the statement that sums `rows` up by currency; a sliced queryset cannot be grouped."""
    sql, params = rows.query.sql_with_params()
    if has_amounts:
        heads, tail = "summed_currency, sum(summed_amount), count(*)", "GROUP BY 1 ORDER BY 1"
    else:
        heads, tail = "'', 0, count(*)", ""
    return f"SELECT {heads} FROM ({sql}) AS matching {tail}", params  # nosec B608 # Django's and constants


def _in_time(statement: tuple[str, Sequence[Any]]) -> list[tuple[str, int, int]] | None:
    """Return the rows of a statement, or None where it takes too long."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [STATEMENT_TIMEOUT])
            cursor.execute(*statement)
            found: list[tuple[str, int, int]] = cursor.fetchall()
            # Nothing was written, and a transaction around this one keeps its own time-out.
            transaction.set_rollback(True)
    except OperationalError:
        return None
    return found

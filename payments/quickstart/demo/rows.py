"""New rows in memory, and their way into the database."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction

from payments.db.writes import Insert, InsertAll, Update, Write


class Rows:
    """Rows that verbs would have inserted, changed by what they would have updated since."""

    def __init__(self) -> None:
        self.by_model: defaultdict[type[models.Model], list[models.Model]] = defaultdict(list)

    def add(self, *rows: models.Model) -> None:
        for row in rows:
            self.by_model[type(row)].append(row)

    def of(self, model: type[models.Model]) -> Sequence[Any]:
        return self.by_model[model]

    def take(self, writes: Iterable[Write], *in_hand: models.Model) -> None:
        """Does the `writes` of a verb; what they update must be `in_hand`, one row of a model."""
        changed = {type(row): row for row in in_hand}
        for write in writes:
            match write:
                case Insert(row=row):
                    self.add(row)
                case InsertAll(rows=rows):
                    self.add(*rows)
                case Update(model=model, values=values):
                    change(changed[model], values)

    def join(self, others: "Rows") -> None:
        for rows in others.by_model.values():
            self.add(*rows)

    def copy(self) -> None:
        """Puts all rows into the database, in one transaction."""
        with transaction.atomic():
            for model, rows in self.by_model.items():
                _copy(model, rows)


def change(row: models.Model, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)


def _copy(model: type[models.Model], rows: Sequence[models.Model]) -> None:
    # Django's proxy would look for it again at each of some hundred thousand values.
    connection = connections[DEFAULT_DB_ALIAS]
    # Numbers that the database gives are left to it.
    fields = [each for each in model._meta.concrete_fields if not isinstance(each, models.AutoField)]
    columns = ", ".join(connection.ops.quote_name(cast(str, field.column)) for field in fields)
    with connection.cursor() as cursor, cursor.copy(f"COPY {model._meta.db_table} ({columns}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields])

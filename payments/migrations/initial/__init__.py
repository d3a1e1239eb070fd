"""The operations of the first migration, by feature; SQL that Django cannot express is in `sql`."""

from pathlib import Path

from typing import Any

from django.db import migrations
from django.db.migrations.operations.base import Operation

SQL = Path(__file__).resolve().parents[1] / "sql"


def run_sql(name: str) -> migrations.RunSQL:
    """Return the operation that runs a file of `sql`."""
    return migrations.RunSQL((SQL / f"{name}.sql").read_text())


class Together(Operation):
    """Operations of which all models are known before the first one runs.

    One by one, Django would make the classes of most models anew for each further model, which took most of the time.
    """

    reversible = False

    def __init__(self, *operations: Operation) -> None:
        self.operations = operations

    def describe(self) -> str:
        return "Create the tables of payments"

    def state_forwards(self, app_label: str, state: Any) -> None:
        # A cached property, which is made again when it is asked for.
        vars(state).pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, to_state, to_state)

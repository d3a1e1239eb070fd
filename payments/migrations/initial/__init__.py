"""The operations of the first migration, by feature; SQL that Django cannot express is in `sql`."""

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).resolve().parents[1] / "sql"


def run_sql(name: str) -> migrations.RunSQL:
    """Return the operation that runs a file of `sql`."""
    return migrations.RunSQL((SQL / f"{name}.sql").read_text())

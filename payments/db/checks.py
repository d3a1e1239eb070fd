"""CHECK constraints that cost little.

PostgreSQL reads the text of each constraint anew for each statement that writes its table: a fifth of what it spent on
a charge. `RowRules` have a text of one line. Of other constraints, a regular expression has a fourth of the text of a
list, an equality of two conditions half of that of their alternatives.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.db.models import BaseConstraint, CheckConstraint

# Like a constraint, a rule holds where its condition is NULL.
FUNCTION = """
CREATE OR REPLACE FUNCTION {function}(checked {table}) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken text;
BEGIN
    -- PostgreSQL prepares an expression anew for each transaction, so what names the broken rule is another one.
    IF NOT ({all}) THEN
        broken := CASE {cases} END;
        RAISE 'new row for relation "%" violates check constraint "%"', {title}, broken
        USING ERRCODE = 'check_violation', TABLE = {title}, CONSTRAINT = broken;
    END IF;
    RETURN true;
END $$;
"""
CONSTRAINT = "ALTER TABLE {table} ADD CONSTRAINT {function} CHECK ({function}({table}))"
# The function raises for a row that breaks a rule.
LOOK_AT_ALL = "SELECT count({function}(checked)) FROM {table} checked"
COLUMN = re.compile(r'("\w+")')


def one_of(*names: str) -> str:
    """Return the regular expression of a column that has one of these `names`, which are words."""
    return f"^({'|'.join(names)})$"


def checks(**conditions: Any) -> list[BaseConstraint]:
    """Return the CHECK constraint of each of `conditions`, by its name."""
    return [CheckConstraint(name=name, condition=condition) for name, condition in conditions.items()]


class RowRules(BaseConstraint):
    """Rules of a table's rows, by name, as one CHECK constraint whose function PostgreSQL compiles once a connection.

    Its error names the rule that is broken, as that of a CHECK constraint of its own would. A migration changes them by
    `ChangeRowRules`.
    """

    def __init__(self, *, name: str, rules: Mapping[str, Any]) -> None:
        super().__init__(name=name)
        self.rules = rules

    @property
    def constraints(self) -> list[BaseConstraint]:
        return checks(**self.rules)

    def constraint_sql(self, model: Any, schema_editor: Any) -> str:
        """Have the constraint made after its table, whose rows its function takes; return "" for the table itself."""
        schema_editor.deferred_sql.append(self.create_sql(model, schema_editor))
        return ""

    def create_sql(self, model: Any, schema_editor: Any) -> str:
        return self._sql(FUNCTION + CONSTRAINT, model, schema_editor)

    def change_sql(self, model: Any, schema_editor: Any) -> str:
        """Return the statements that put these rules in the place of others of the name, whose rows they must fit."""
        return self._sql(FUNCTION + LOOK_AT_ALL, model, schema_editor)

    def _sql(self, statements: str, model: Any, schema_editor: Any) -> str:
        table, quoted = model._meta.db_table, schema_editor.quote_value
        checks = {rule.name: rule.constraint_sql(model, schema_editor) for rule in self.constraints}
        rules = {name: COLUMN.sub(r"checked.\1", sql.partition(" CHECK ")[2][1:-1]) for name, sql in checks.items()}
        cases = " ".join(f"WHEN NOT ({condition}) THEN {quoted(name)}" for name, condition in rules.items())
        names = {"function": schema_editor.quote_name(self.name), "table": schema_editor.quote_name(table)}
        every = " AND ".join(f"({condition})" for condition in rules.values())
        return statements.format(**names, title=quoted(table), all=every, cases=cases)

    def remove_sql(self, model: Any, schema_editor: Any) -> str:
        table, function = map(schema_editor.quote_name, (model._meta.db_table, self.name))
        return f"ALTER TABLE {table} DROP CONSTRAINT {function}; DROP FUNCTION {function}"

    def validate(self, *args: Any, **kwargs: Any) -> None:
        """Raise ValidationError for a model that breaks a rule."""
        for rule in self.constraints:
            rule.validate(*args, **kwargs)

    def deconstruct(self) -> Any:
        path, args, kwargs = super().deconstruct()
        return path, args, kwargs | {"rules": self.rules}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowRules) and self.deconstruct() == other.deconstruct()

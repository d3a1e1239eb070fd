"""What migrations do that Django has no operation for."""

from typing import Any

from django.db.migrations.operations import AlterConstraint


class ChangeRowRules(AlterConstraint):
    """Change the `RowRules` of a table in the place of the removal and the addition that `makemigrations` writes.

    Both versions write the table meanwhile, so the new rules must fit what the version before writes. Rows that are
    there are read without a lock; one that breaks a rule ends the migration with the rule's name.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        rules = next(rules for rules in model._meta.constraints if rules.name == self.name)
        schema_editor.execute(rules.change_sql(model, schema_editor), params=None)

    database_backwards = database_forwards

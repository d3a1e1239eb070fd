"""Every migration after the first runs while the version before serves; others are refused here."""

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.utils import IntegrityError
from django_migration_linter.sql_analyser import analyse_sql_statements, get_sql_analyser_class

from payments.db.backend.operations import ChangeRowRules
from payments.db.checks import RowRules
from payments.models import Source
from tests.factories import SourceFactory

APPS = ("payments", "customers", "simulator")
# Migrations that remove what the version before does not use any more, each with the version that stopped to use it.
CONTRACTED: dict[str, str] = {}


def faults_of(migration: migrations.Migration, loader: MigrationLoader) -> set[str]:
    """Return the codes of what in a migration is not safe beside the version before."""
    state = loader.project_state(migration.dependencies)
    with connection.schema_editor(collect_sql=True, atomic=migration.atomic) as editor:
        migration.apply(state, editor, collect_sql=True)
    statements = ["BEGIN;"] * migration.atomic + [sql for sql in editor.collected_sql if not sql.startswith("--")]
    errors, _, warnings = analyse_sql_statements(get_sql_analyser_class("postgresql"), statements)
    return {fault.code for fault in [*errors, *warnings]} | set(_validating(statements))


def _validating(statements: list[str]) -> list[str]:
    """Return a code where a constraint is checked on all rows of a table under its lock."""
    made = {sql.split()[2] for sql in statements if sql.startswith("CREATE TABLE")}
    adding = [sql for sql in statements if sql.startswith("ALTER TABLE") and " ADD CONSTRAINT " in sql]
    is_safe = all(sql.split()[2] in made or "NOT VALID" in sql or "USING INDEX" in sql for sql in adding)
    return [] if is_safe else ["ADD_CONSTRAINT"]


@pytest.fixture
def loader(db: None) -> MigrationLoader:
    return MigrationLoader(connection)


@pytest.mark.django_db(transaction=True)
def test_every_migration_runs_while_the_version_before_serves(loader: MigrationLoader) -> None:
    unsafe = {}
    for (app, name), migration in loader.disk_migrations.items():
        if app in APPS and not migration.initial and f"{app}.{name}" not in CONTRACTED:
            unsafe[f"{app}.{name}"] = faults_of(migration, loader)
    assert {name: faults for name, faults in unsafe.items() if faults} == {}


def test_the_first_migrations_say_that_they_are(loader: MigrationLoader) -> None:
    first = {app for (app, _), migration in loader.disk_migrations.items() if app in APPS and migration.initial}
    assert first == set(APPS)


def migration_of(*operations: migrations.operations.base.Operation, atomic: bool = True) -> migrations.Migration:
    made = migrations.Migration("0002_next", "payments")
    made.dependencies, made.operations, made.atomic = [("payments", "0001_initial")], list(operations), atomic
    return made


def source_rules(**rules: models.Q) -> ChangeRowRules:
    """Return the change of a source's rules to these."""
    return ChangeRowRules("source", "source_follows_rules", RowRules(name="source_follows_rules", rules=rules))


TITLE = models.Index(fields=["title"], name="merchant_title")
CHECK = models.CheckConstraint(name="merchant_has_title", condition=~models.Q(title=""))


@pytest.mark.long
@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (migrations.AddField("merchant", "city", models.TextField(default="")), "NOT_NULL"),
        (migrations.RemoveField("merchant", "title"), "DROP_COLUMN"),
        (migrations.RenameField("merchant", "title", "name"), "RENAME_COLUMN"),
        (migrations.AlterField("merchant", "title", models.CharField(max_length=7)), "ALTER_COLUMN"),
        (migrations.DeleteModel("moneycheck"), "DROP_TABLE"),
        (migrations.AlterModelTable("moneycheck", "money_checks"), "RENAME_TABLE"),
        (migrations.AddIndex("merchant", TITLE), "CREATE_INDEX"),
        (migrations.AddConstraint("merchant", CHECK), "ADD_CONSTRAINT"),
        (migrations.RunSQL("CREATE UNIQUE INDEX titles ON payments_merchant (title)"), "CREATE_INDEX"),
    ],
)
def test_what_is_not_safe_is_refused(
    loader: MigrationLoader, operation: migrations.operations.base.Operation, code: str
) -> None:
    assert code in faults_of(migration_of(operation), loader)


def test_what_is_safe_is_not_refused(loader: MigrationLoader) -> None:
    expand = migration_of(
        migrations.AddField("merchant", "city", models.TextField(null=True)),
        migrations.AddField("merchant", "country", models.TextField(db_default="PH")),
        migrations.CreateModel("Branch", [("id", models.UUIDField(primary_key=True)), ("city", models.TextField())]),
    )
    assert faults_of(expand, loader) == set()


@pytest.mark.django_db(transaction=True)
def test_an_index_that_is_built_concurrently_is_not_refused() -> None:
    concurrently = migration_of(AddIndexConcurrently("merchant", TITLE), atomic=False)
    assert faults_of(concurrently, MigrationLoader(connection)) == set()


def test_changed_rules_of_rows_are_not_refused(loader: MigrationLoader) -> None:
    assert faults_of(migration_of(source_rules(source_is_new=models.Q(used=False))), loader) == set()


def test_changed_rules_replace_those_before(loader: MigrationLoader) -> None:
    source = SourceFactory.create()
    change(source_rules(source_is_new=models.Q(used=False)), loader)
    Source.objects.filter(pk=source.pk).update(type="of tomorrow")
    with pytest.raises(IntegrityError, match="source_is_new"):
        Source.objects.filter(pk=source.pk).update(used=True)


def test_changed_rules_that_a_row_breaks_are_refused_by_the_name_of_the_rule(loader: MigrationLoader) -> None:
    SourceFactory.create(used=True)
    with pytest.raises(IntegrityError, match="source_is_new"):
        change(source_rules(source_is_new=models.Q(used=False)), loader)


def change(operation: ChangeRowRules, loader: MigrationLoader) -> None:
    """Apply an operation to the database, in the transaction of the test."""
    migration = migration_of(operation)
    with connection.schema_editor(atomic=False) as editor:
        migration.apply(loader.project_state(migration.dependencies), editor)

"""Django's compilers for PostgreSQL, whose INSERT and UPDATE look at each text before it is stored."""

from typing import Any

from django.db.backends.postgresql import compiler, operations

from payments.db.texts.writes import kept

SQLCompiler, SQLDeleteCompiler = compiler.SQLCompiler, compiler.SQLDeleteCompiler
SQLAggregateCompiler = compiler.SQLAggregateCompiler


class DatabaseOperations(operations.DatabaseOperations):
    compiler_module = __name__


class SQLInsertCompiler(compiler.SQLInsertCompiler):
    def prepare_value(self, field: Any, value: Any) -> Any:
        return super().prepare_value(field, kept(field, value))


class SQLUpdateCompiler(compiler.SQLUpdateCompiler):
    query: Any

    def as_sql(self, *args: Any, **options: Any) -> Any:
        self.query.values = [(field, model, kept(field, value)) for field, model, value in self.query.values]
        return super().as_sql(*args, **options)

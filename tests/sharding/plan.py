"""The statements by which a database of kaha's becomes one that can be sharded by merchant, made from its catalog.

`config/deploy/citus/keys.sql` puts the merchant into every key of a merchant's table, and PostgreSQL can run it.
`config/deploy/citus/tables.sql` says where each table goes, in the words of Citus.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from django.db import connection

from payments.db.partitions import ALL
from tests.sharding.tables import OWNER, Kind, tables_of
from tests.support.scratch import scratch_servers

FOLDER = Path("config/deploy/citus")
KEYS, TABLES = FOLDER / "keys.sql", FOLDER / "tables.sql"
# Keys and foreign keys of whole tables: partitions follow.
CONSTRAINTS = """
SELECT c.conname, c.conrelid::regclass::text, c.contype, c.confrelid::regclass::text, c.condeferrable,
    (SELECT array_agg(a.attname::text ORDER BY place) FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number),
    (SELECT array_agg(a.attname::text ORDER BY place) FROM unnest(c.confkey) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.number)
FROM pg_constraint c
WHERE c.contype IN ('p', 'u', 'f') AND c.conparentid = 0 AND c.connamespace = 'public'::regnamespace
    AND NOT (SELECT relispartition FROM pg_class WHERE oid = c.conrelid)
ORDER BY c.conrelid::regclass::text, c.contype DESC, c.conname
"""
# Unique indexes that belong to no constraint: of expressions, or of some rows.
INDEXES = """
SELECT i.indexrelid::regclass::text, i.indrelid::regclass::text,
    (SELECT array_agg(pg_get_indexdef(i.indexrelid, n, true) ORDER BY n) FROM generate_series(1, i.indnkeyatts) n),
    pg_get_expr(i.indpred, i.indrelid)
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
WHERE i.indisunique AND NOT t.relispartition AND t.relnamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u'))
ORDER BY 2, 1
"""
# What is unique within a month has an index of its own in each partition.
OF_PARTITIONS = """DO $$
DECLARE part regclass;
BEGIN
    FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = '{table}'::regclass LOOP
        EXECUTE format('DROP INDEX %I', part || '_{name}_key');
        EXECUTE format('CREATE UNIQUE INDEX %I ON %s ({columns})', part || '_{name}_key', part);
    END LOOP;
END $$;"""


def keys() -> list[str]:
    """Return the statements that put the merchant into each primary key, unique index and foreign key.

    It comes last, so that what is looked up by an ID alone is found as before.
    """
    own = set(tables_of(Kind.MERCHANTS))
    constraints, indexes = _read(CONSTRAINTS), _read(INDEXES)
    foreign = [row for row in constraints if row[2] == "f" and row[3] in own]
    unique = [row for row in constraints if row[2] != "f" and row[1] in own and OWNER not in row[5]]
    dropped = [f"ALTER TABLE {table} DROP CONSTRAINT {name};" for name, table, *_ in foreign]
    changed = [
        f"ALTER TABLE {table} DROP CONSTRAINT {name},\n"
        f"    ADD CONSTRAINT {name} {'PRIMARY KEY' if kind == 'p' else 'UNIQUE'} ({_with_owner(columns)});"
        for name, table, kind, _, _, columns, _ in unique
    ]
    others = [
        f"DROP INDEX {name};\nCREATE UNIQUE INDEX {name} ON {table} ({_with_owner(columns)})"
        f"{f' WHERE {condition}' if condition else ''};"
        for name, table, columns, condition in indexes
        if table in own and OWNER not in columns
    ]
    added = [
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({_with_owner(columns)})\n"
        f"    REFERENCES {other} ({_with_owner(others)}){' DEFERRABLE INITIALLY DEFERRED' if deferrable else ''};"
        for name, table, _, other, deferrable, columns, others in foreign
        if table in own
    ]
    return [*dropped, *changed, *others, *_of_partitions(), *added]


def tables() -> Iterator[str]:
    """Yield the statements that make each table a reference, or shard it beside the charges."""
    yield from (f"SELECT create_reference_table('{table}');" for table in tables_of(Kind.REFERENCE))
    first = "payments_charge"
    yield f"SELECT create_distributed_table('{first}', '{OWNER}');"
    for table in tables_of(Kind.MERCHANTS):
        if table != first:
            yield f"SELECT create_distributed_table('{table}', '{OWNER}', colocate_with => '{first}');"


def _of_partitions() -> list[str]:
    return [
        OF_PARTITIONS.format(table=parted.table, name=parted.once.replace(", ", "_"), columns=f"{parted.once}, {OWNER}")
        for parted in ALL
        if parted.once
    ]


def _with_owner(columns: Sequence[str]) -> str:
    return ", ".join((*columns, OWNER))


def _read(query: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        found: list[tuple] = cursor.fetchall()
        return found


def files() -> dict[Path, str]:
    """Return what each file says below its first paragraph, which is written by hand."""
    return {KEYS: "\n".join(keys()), TABLES: "\n".join(tables())}


def main() -> None:
    """Write the files anew for the schema as it is."""
    with scratch_servers():
        for file, body in files().items():
            head, _, _ = file.read_text().partition("\n\n")
            file.write_text(f"{head}\n\n{body}\n")


if __name__ == "__main__":
    main()

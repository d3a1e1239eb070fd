"""The plan by which a database becomes one that can be sharded: it is of this schema, and kaha works on it."""

import os
import subprocess
import sys

import pytest
from django.db import connection

from tests.sharding.plan import KEYS, files
from tests.sharding.tables import OWNER, Kind, tables_of

WITHOUT_OWNER = """
SELECT i.indexrelid::regclass::text FROM pg_index i
WHERE i.indisunique AND i.indrelid::regclass::text = ANY(%s) AND NOT EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attname = %s AND a.attnum = ANY(i.indkey)
)
"""
FOREIGN = """
SELECT conname FROM pg_constraint c WHERE contype = 'f' AND conrelid::regclass::text = ANY(%(tables)s)
    AND confrelid::regclass::text = ANY(%(tables)s) AND NOT EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attname = %(owner)s AND a.attnum = ANY(c.conkey)
    )
"""
# What moves money, claims keys, races for them, keeps sources, disputes and pays out; not the search, which names its
# key in a conflict: the sharding guide lists it.
LEDGER = ("account_days", "movements", "running_balances", "settlement", "settlement_races")
SLICE = (
    *("tests/contract/transport/test_idempotency.py", "tests/charging/test_races.py", "tests/disputes/test_money.py"),
    *("tests/customers/test_customers.py", "tests/db_writes/test_writes.py", "tests/payouts/test_states.py"),
    *(f"tests/ledger/test_{name}.py" for name in LEDGER),
    # They claim a key by the statement that others of the file send for each call, too.
    "--deselect=tests/contract/transport/test_idempotency.py::test_the_same_key_",
)
# A run of tests within a run has servers and a number of processes of its own.
OF_THIS_RUN = ("DATABASE_URL", "REDIS_URL", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT")


@pytest.mark.django_db
def test_the_files_are_of_this_schema() -> None:
    for file, body in files().items():
        written = file.read_text().partition("\n\n")[2]
        assert written.strip() == body, "write it anew: .uv/bin/uv run python -m tests.sharding.plan"


@pytest.mark.django_db
def test_the_plan_puts_the_merchant_into_every_key_of_its_tables() -> None:
    own = tables_of(Kind.MERCHANTS)
    with connection.cursor() as cursor:
        cursor.execute(KEYS.read_text())
        cursor.execute(WITHOUT_OWNER, [own, OWNER])
        assert cursor.fetchall() == []
        cursor.execute(FOREIGN, {"tables": own, "owner": OWNER})
        assert cursor.fetchall() == []


@pytest.mark.long
def test_kaha_works_on_the_planned_keys() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in OF_THIS_RUN}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "tests.sharding.on_planned_keys", *SLICE]
    run = subprocess.run(
        [*command, "-m", "not long and not browser"], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-8000:]

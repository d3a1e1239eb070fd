"""A sweep that looks for what is due before it runs must look for all that it acts on."""

import re
from pkgutil import resolve_name

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments.sweeps.table import SWEEPS

LOOKING = [name for name, sweep in SWEEPS.items() if sweep.looks]
# A table's moment that must have come: as Django writes it, and as a look does.
BY_DJANGO = re.compile(r'"(\w+)"\."(\w+)" <= ')
BY_LOOK = re.compile(r"FROM (\w+) WHERE (\w+) <= ")


@pytest.mark.django_db
@pytest.mark.parametrize("name", LOOKING)
def test_a_sweep_looks_for_every_moment_at_which_it_acts(name: str) -> None:
    with CaptureQueriesContext(connection) as looked:
        assert {read() for read in SWEEPS[name].looks} == {None}
    with CaptureQueriesContext(connection) as acted:
        for function in SWEEPS[name].does.split():
            resolve_name(f"payments.{function}")()
    moments = {found for query in acted for found in BY_DJANGO.findall(query["sql"])}
    assert moments
    assert moments <= {found for query in looked for found in BY_LOOK.findall(query["sql"])}


@pytest.mark.django_db
@pytest.mark.parametrize("name", [name for name, sweep in SWEEPS.items() if sweep.looks or sweep.due])
def test_a_sweep_finds_what_is_due_by_an_index(name: str) -> None:
    with CaptureQueriesContext(connection) as looked:
        assert {read() for read in (*SWEEPS[name].looks, *SWEEPS[name].due)} == {None}
    with connection.cursor() as cursor:
        # An empty table is read as a whole otherwise.
        cursor.execute("SET LOCAL enable_seqscan = off")
        for query in looked:
            cursor.execute(f"EXPLAIN {query['sql']}")
            assert "Seq Scan" not in str(cursor.fetchall()), query["sql"]

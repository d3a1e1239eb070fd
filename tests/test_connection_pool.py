"""Connections that threads pass on to each other."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import DataError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments.db.backend.connection_pool import ConnectionPool
from payments.domain.charging import attempts
from payments.json_codecs.verbatim_json import to_bytes
from payments.models import Attempt
from payments.providers import http
from payments.providers.base import Approved, Outcome, Provider
from tests.client import Api
from tests.support.http_server import Answered, answering

pytestmark = pytest.mark.django_db(transaction=True)


def backend() -> int:
    """Return the process of PostgreSQL's that answers this thread."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def backend_of_another_thread() -> int:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: (backend(), connection.close())[0]).result()


def test_a_connection_that_is_closed_is_the_next_threads() -> None:
    ours = backend()
    connection.close()
    assert backend_of_another_thread() == ours


def test_a_connection_in_use_is_nobody_elses() -> None:
    def ask() -> object:
        backend()
        ours = connection.connection
        connection.close()
        return ours

    backend()
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(ask).result() is not connection.connection


def test_a_connection_returns_to_the_pool_it_was_taken_from(monkeypatch: pytest.MonkeyPatch) -> None:
    backend()
    pool, in_use = connection.process_pool, connection.process_pool.in_use
    monkeypatch.setitem(connection.settings_dict, "NAME", "another")
    connection.close()
    assert pool.in_use == in_use - 1


def test_a_connection_in_the_middle_of_a_transaction_is_not_handed_on() -> None:
    with transaction.atomic():
        ours = backend()
        connection.close()
    assert backend() != ours


def test_a_walk_over_rows_that_is_given_up_leaves_the_next_transaction_alone() -> None:
    with transaction.atomic():
        rows = ContentType.objects.iterator(1)
        next(rows)
    with transaction.atomic():
        ours = backend()
        rows.close()
        assert backend() == ours


@pytest.mark.unpooled
def test_a_connection_that_the_server_has_ended_is_not_handed_on() -> None:
    ours, others_is_open, ours_is_closed = backend(), Event(), Event()

    def end() -> None:
        backend()
        others_is_open.set()
        ours_is_closed.wait()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [ours])

    with ThreadPoolExecutor(1) as threads:
        ending = threads.submit(end)
        others_is_open.wait()
        connection.close()
        ours_is_closed.set()
        ending.result()
        assert backend() != ours
        threads.submit(lambda: connection.close()).result()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.datetimes(timezones=st.just(UTC)))
@pytest.mark.django_db
def test_every_moment_is_read_as_it_was_written(moment: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s", [moment])
        [read] = cursor.fetchone()
    assert (read, read.tzinfo) == (moment, UTC)


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "0044-03-15 BC", "12026-11-22"])
def test_a_timestamp_without_a_python_datetime_is_refused(moment: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [moment])
        with pytest.raises(DataError):
            cursor.fetchone()


TEXT = st.characters(exclude_categories=["Cs"])
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(TEXT),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(TEXT), inner),
)


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOCUMENTS, st.text(" \n\r\t"), st.text(" \n\r\t"))
@pytest.mark.django_db
def test_every_document_is_read_as_it_was_written(document: Any, before: str, after: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::json", [f"{before}{json.dumps(document, ensure_ascii=False)}{after}"])
        [read] = cursor.fetchone()
    assert json.loads(to_bytes(read)) == document


def test_a_thread_waits_while_all_are_in_use() -> None:
    connections, came = ConnectionPool(1), Event()
    turn, _ = connections.take()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(lambda: (came.set(), connections.take()))
        came.wait()
        assert not waiting.done()
        connections.give_back(turn, None)
        assert waiting.result()[1][1] is None


def test_nobody_holds_a_connection_while_a_provider_is_asked(api: Api) -> None:
    api.charge()
    seen = []

    def question(provider: Provider) -> Outcome:
        seen.append(connection.connection)
        return Approved("")

    attempts.look_up(Attempt.objects.select_related("charge").get(), question)
    assert seen == [None]


def test_nobody_holds_a_connection_while_a_provider_answers() -> None:
    with answering(lambda _: Answered(200, {})) as fake:
        backend()
        http.send("GET", fake.address, {})
    assert connection.connection is None

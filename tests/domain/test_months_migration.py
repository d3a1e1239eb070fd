"""The migration makes the tables the first of their months, with the rows and the indexes that are there."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from payments import clock
from payments.domain.merchants import NewMerchant
from payments.ids import new_id
from payments.models import Event, Notification, NotificationTry
from payments.models.parted import ALL
from tests.figures.making import put_events
from tests.months import months_of

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE, MONTHS = [("payments", "0027_cheaper_writes")], [("payments", "0028_months")]
URL = "http://127.0.0.1:2001/"
FILES = """
SELECT relfilenode FROM pg_class LEFT JOIN pg_index ON indexrelid = pg_class.oid
WHERE relkind IN ('r', 'i') AND coalesce(indrelid, pg_class.oid) = %s::regclass ORDER BY relfilenode
"""


def migrate(targets: list[tuple[str, str]]) -> None:
    MigrationExecutor(connection).migrate(targets)


def files_of(table: str) -> set[int]:
    """The files in which a table and its indexes lie."""
    with connection.cursor() as cursor:
        cursor.execute(FILES, [table])
        return {file for (file,) in cursor.fetchall()}


@pytest.fixture
def rows(shop: NewMerchant) -> dict[str, list[object]]:
    """Events that were told, of which one notification has an ID of its own, as all had before."""
    put_events(shop.merchant, URL, 3, clock.now())
    first = Notification.objects.order_by("id")[0]
    Notification.objects.filter(id=first.id).update(id=new_id())
    for told in Notification.objects.all():
        NotificationTry.objects.create(notification=told, number=1, started_at=clock.now(), milliseconds=1, status=204)
    return all_rows()


def all_rows() -> dict[str, list[object]]:
    models = (Event, Notification, NotificationTry)
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in models}


def test_no_row_is_lost_or_changed_and_none_moves_to_another_file(rows: dict[str, list[object]]) -> None:
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        migrate(BEFORE)
        assert all_rows() == rows
        before = {parted: files_of(parted.table) for parted in ALL}
        migrate(MONTHS)
        after = {parted: files_of(parted.part(months_of(parted)[0])) for parted in ALL}
    finally:
        migrate(latest)

    assert all_rows() == rows
    assert all(after[parted] <= before[parted] for parted in ALL)


def test_a_notification_from_before_is_found_by_its_event(rows: dict[str, list[object]]) -> None:
    older = Notification.objects.latest("id")
    assert older.id != older.event_id
    assert Event.objects.get(id=older.event_id).notification == older
    assert older.try_list.get().number == 1


def test_tries_are_numbered_on(rows: dict[str, list[object]]) -> None:
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        migrate(BEFORE)
    finally:
        migrate(latest)
    last = NotificationTry.objects.latest("id")
    again = NotificationTry.objects.create(
        notification=last.notification, number=2, started_at=clock.now(), milliseconds=1, status=204
    )
    assert again.id == last.id + 1

"""An outcome that the database would not take: no answer shows what is not on record."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from payments.db.writes import StaleRow
from payments.domain.charging import record_outcome
from tests.charging.test_recovery import recover
from tests.client import Api, error_of, made

pytestmark = pytest.mark.django_db(transaction=True)

BREAK = """
CREATE FUNCTION breaks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is full'; END $$;
CREATE TRIGGER breaks BEFORE UPDATE ON payments_attempt FOR EACH ROW EXECUTE FUNCTION breaks()
"""
MEND = "DROP TRIGGER breaks ON payments_attempt; DROP FUNCTION breaks"


@contextmanager
def no_outcome_recorded() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(BREAK)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(MEND)


def test_a_charge_is_shown_as_it_is_on_record_and_found_later(api: Api) -> None:
    with no_outcome_recorded():
        announced = api.charge()
        assert announced == api.read(announced)
    assert announced["status"] == "pending"

    recover()

    assert api.read(announced)["status"] == "succeeded"


@pytest.mark.parametrize(("verb", "status"), [("capture", "succeeded"), ("void", "voided"), ("refund", "refunded")])
def test_what_was_done_to_a_charge_is_shown_as_it_is_on_record_and_found_later(
    api: Api, verb: str, status: str
) -> None:
    charge = api.charge() if verb == "refund" else api.held()
    with no_outcome_recorded():
        announced = made(api.post(f"/charges/{charge['id']}/{verb}"))
        assert announced == api.read(charge)
    assert [refund["status"] for refund in announced["refunds"]] == (["pending"] if verb == "refund" else [])

    recover()

    assert api.read(charge)["status"] == status


def test_a_charge_that_others_change_at_every_try_is_busy_and_found_later(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(*writes: object) -> None:
        raise StaleRow

    held = api.held()
    with monkeypatch.context() as others:
        others.setattr(record_outcome, "execute_writes", stale)
        answer = api.post(f"/charges/{held['id']}/capture")
    assert (answer.status_code, error_of(answer)["code"]) == (409, "resource_busy")

    recover()

    assert api.read(held)["captured"]

from datetime import timedelta

import pytest
from django.db import InternalError, connection

from payments import clock
from payments.domain.maintenance.retention import delete_old_rows
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Charge, MoneyCheck
from payments.tasks import run_sweep
from tests.client import Api
from tests.concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def checked(**ago: float) -> MoneyCheck:
    """Return a complete run that began and ended so long ago."""
    moment = clock.now() - timedelta(**ago)
    return MoneyCheck.objects.create(whole=True, invariants=[], started_at=moment, finished_at=moment)


def test_a_run_is_stored_with_its_failures(api: Api) -> None:
    charge = api.charge()
    Charge.objects.update(version=7)
    checks.run(INVARIANTS)
    check = MoneyCheck.objects.get()
    assert check.whole
    assert check.invariants == [invariant.name for invariant in INVARIANTS]
    [failure] = check.failures
    assert (failure["name"], failure["model"]) == ("charges_have_their_events", "payments.Charge")
    assert (failure["count"], failure["ids"]) == (1, [charge["id"]])
    assert check.seconds is not None


def test_the_worker_checks_once_a_day(db: None) -> None:
    checked(hours=25)
    assert run_sweep("check_money")
    assert not run_sweep("check_money")


def test_a_partial_run_does_not_replace_the_daily_one(db: None) -> None:
    checks.run(INVARIANTS[:3])
    assert run_sweep("check_money")


def test_old_runs_are_deleted(db: None) -> None:
    checked(days=91)
    kept = checked(days=89)
    delete_old_rows()
    assert MoneyCheck.objects.get() == kept


def test_a_check_cannot_write(db: None) -> None:
    with pytest.raises(InternalError, match="read-only"), checks.read_only_snapshot():
        MoneyCheck.objects.create(whole=False, invariants=[])


def test_all_queries_see_one_snapshot(api: Api) -> None:
    with checks.read_only_snapshot():
        before = Charge.objects.count()
        at_once(1, lambda _: api.charge())
        assert Charge.objects.count() == before
    assert Charge.objects.count() == before + 1


def test_the_time_limit_of_statements_is_lifted_for_the_check_alone(db: None) -> None:
    def limit() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return str(cursor.fetchone()[0])

    with checks.read_only_snapshot():
        assert limit() == "0"
    assert limit() == "10s"

"""The checks of the money, and the command that runs them."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import InternalError, connection, transaction

from payments import clock
from payments.domain.maintenance.retention import delete_old_rows
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import public_id
from payments.invariants import checks
from payments.invariants.invariant import SAMPLE
from payments.invariants.registry import INVARIANTS
from payments.models import Charge, IdempotencyRecord, MoneyCheck
from payments.tasks import run_sweep
from tests.client import Api, made
from tests.concurrency import at_once
from tests.factories import MerchantFactory

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


def output_of(*arguments: str) -> tuple[str, int]:
    """Return the command's output and its exit status."""
    out, status = io.StringIO(), 0
    try:
        call_command("check_money", *arguments, stdout=out)
    except SystemExit as end:
        status = int(str(end.code))
    return out.getvalue(), status


@pytest.fixture
def broken(api: Api) -> str:
    """Return the ID of a charge with a wrong fee."""
    charge_id = api.charge()["id"]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE payments_charge SET fee = 7")
    return charge_id


def test_valid_books_end_with_status_0(api: Api) -> None:
    api.charge()
    text, status = output_of()
    assert status == 0
    assert f"{len(INVARIANTS)} of {len(INVARIANTS)} hold" in text


def test_each_invariant_is_named_with_its_number_and_its_time(api: Api) -> None:
    text, _ = output_of()
    for number, (invariant, line) in enumerate(zip(INVARIANTS, text.splitlines(), strict=False), 1):
        assert line.split()[:2] == [f"{number}/{len(INVARIANTS)}", invariant.name]
        assert line.endswith(" s  holds")


def test_a_failure_is_shown_with_its_ids_and_status_1(broken: str) -> None:
    text, status = output_of()
    assert status == 1
    report = text[text.index("fees_follow_the_rate: 1 offend") :]
    assert report.splitlines()[2].strip() == broken


def test_of_many_offenders_some_are_shown_and_all_are_counted(shop: NewMerchant) -> None:
    keys = [IdempotencyRecord(merchant=shop.merchant, livemode=False, key=str(n), fingerprint=b"") for n in range(50)]
    IdempotencyRecord.objects.bulk_create(keys)
    text, _ = output_of("--only", "idempotency_keys_are_answered")
    assert "idempotency_keys_are_answered: 50 offend" in text
    assert f"and {50 - SAMPLE} more" in text
    assert [key.id.hex in text for key in keys].count(True) == SAMPLE


def test_only_named_invariants_are_checked(broken: str) -> None:
    text, status = output_of("--only", "amounts_within_bounds", "refunds_add_up")
    assert status == 0
    assert "2 of 2 hold" in text
    assert MoneyCheck.objects.get().invariants == ["amounts_within_bounds", "refunds_add_up"]


def test_an_unknown_name_is_refused(db: None) -> None:
    with pytest.raises(CommandError, match="nonsense"):
        output_of("--only", "refunds_add_up", "nonsense")
    assert not MoneyCheck.objects.exists()


def test_another_merchants_failure_is_not_shown(broken: str, shop: NewMerchant) -> None:
    other = public_id("mer", MerchantFactory().id)
    assert output_of("--merchant", public_id("mer", shop.merchant.id))[1] == 1
    assert output_of("--merchant", other)[1] == 0
    assert list(MoneyCheck.objects.values_list("whole", flat=True)) == [False, False]


def test_a_check_waits_for_no_lock(api: Api) -> None:
    charge = api.charge()
    with transaction.atomic():
        Charge.objects.select_for_update().get()
        Charge.objects.update(description="changed, and not committed")
        [(_, status)] = at_once(1, lambda _: output_of())
    assert status == 0
    assert made(api.get(f"/charges/{charge['id']}"))["status"] == "succeeded"

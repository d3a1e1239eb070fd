"""Schedules of payouts: possible terms, and those that need another operator in live mode."""

import pytest

from payments import clock
from payments.domain.approvals.limits import schedule_needs_approval
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts.schedules import next_run_at
from payments.domain.payouts.terms import BadSchedule, Terms, set_schedule
from payments.models import AuditEntry, PayoutSchedule, ProviderAccount
from tests.approvals.factories import approved
from tests.factories import MerchantFactory
from tests.payouts.setups import live_schedule, requested_schedule
from tests.routing.doubles import Psp, account_at, installed

pytestmark = pytest.mark.django_db

KEPT = Terms("weekly", delay_days=3, reserve_percent=10, reserve_days=30)


@pytest.fixture
def way_out(shop: NewMerchant) -> ProviderAccount:
    with installed(Psp("north")) as psp:
        return account_at(psp, shop.merchant)


def test_a_schedule_is_set_and_audited(shop: NewMerchant) -> None:
    schedule = set_schedule(shop.merchant, False, "PHP", KEPT)
    assert Terms.of(PayoutSchedule.objects.get()) == KEPT
    assert schedule.next_at == next_run_at("weekly", clock.now())
    entry = AuditEntry.objects.get(object_id=str(schedule.id))
    assert (entry.action, "reserve_days" in entry.fields) == ("added", True)


def test_a_change_of_the_interval_moves_the_next_payout(shop: NewMerchant) -> None:
    set_schedule(shop.merchant, False, "PHP", KEPT)
    set_schedule(shop.merchant, False, "PHP", Terms("manual"))
    schedule = PayoutSchedule.objects.get()
    assert (schedule.interval, schedule.next_at) == ("manual", None)
    assert AuditEntry.objects.filter(object_id=str(schedule.id), action="changed").exists()


def test_the_same_terms_again_leave_the_next_payout_and_the_audit_log_as_they_are(shop: NewMerchant) -> None:
    schedule = set_schedule(shop.merchant, False, "PHP", KEPT)
    again = set_schedule(shop.merchant, False, "PHP", KEPT)
    assert (again.id, again.next_at) == (schedule.id, schedule.next_at)
    assert AuditEntry.objects.filter(object_id=str(schedule.id)).count() == 1


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        (Terms("yearly"), "interval"),
        (Terms(delay_days=91), "delay_days"),
        (Terms(delay_days=-1), "delay_days"),
        (Terms(reserve_percent=100, reserve_days=1), "reserve_percent"),
        (Terms(reserve_percent=1, reserve_days=541), "reserve_days"),
        (Terms(reserve_percent=1), "reserve_days"),
        (Terms(reserve_days=1), "reserve_days"),
    ],
)
def test_impossible_terms_are_refused(shop: NewMerchant, terms: Terms, field: str) -> None:
    with pytest.raises(BadSchedule) as fault:
        set_schedule(shop.merchant, False, "PHP", terms)
    assert fault.value.field == field


def test_payouts_do_not_go_out_by_the_account_of_another_merchant(shop: NewMerchant, way_out: ProviderAccount) -> None:
    terms = Terms(provider_account=str(way_out.id))
    with pytest.raises(BadSchedule, match="no enabled live account"):
        set_schedule(MerchantFactory(), True, "PHP", terms)
    with pytest.raises(BadSchedule, match="simulated bank"):
        set_schedule(shop.merchant, False, "PHP", terms)
    assert set_schedule(shop.merchant, True, "PHP", terms).provider_account == way_out


def test_payouts_go_out_by_an_enabled_live_account_alone(shop: NewMerchant, way_out: ProviderAccount) -> None:
    with installed(Psp("north")) as psp:
        trial = account_at(psp, shop.merchant, livemode=False)
    ProviderAccount.objects.filter(id=way_out.id).update(enabled=False)
    for account in (way_out, trial):
        with pytest.raises(BadSchedule, match="no enabled live account"):
            set_schedule(shop.merchant, True, "PHP", Terms(provider_account=str(account.id)))


@pytest.mark.parametrize(
    ("after", "needed"),
    [
        (KEPT, False),
        (Terms("daily", 3, 10, 30), False),
        (Terms("weekly", 4, 11, 31), False),
        (Terms("weekly", 2, 10, 30), True),
        (Terms("weekly", 3, 9, 30), True),
        (Terms("weekly", 3, 10, 29), True),
        (Terms("weekly", 3, 10, 30, "0190"), True),
    ],
)
def test_another_operator_is_needed_where_money_goes_out_sooner_or_another_way(after: Terms, needed: bool) -> None:
    assert schedule_needs_approval(True, KEPT, after) is needed
    assert not schedule_needs_approval(False, KEPT, after)


def test_a_first_schedule_of_live_mode_needs_another_operator() -> None:
    assert schedule_needs_approval(True, None, Terms())
    assert not schedule_needs_approval(False, None, Terms())


def test_an_approved_schedule_is_set(shop: NewMerchant) -> None:
    approved(requested_schedule(shop.merchant, KEPT))
    assert Terms.of(PayoutSchedule.objects.get(livemode=True)) == KEPT


def test_a_schedule_that_was_changed_since_the_request_stays(shop: NewMerchant) -> None:
    live_schedule(shop.merchant, interval="weekly", delay_days=3)
    request = requested_schedule(shop.merchant, Terms("weekly", delay_days=1))
    live_schedule(shop.merchant, interval="weekly", delay_days=5)
    with pytest.raises(Refused, match="changed since"):
        approved(request)
    assert PayoutSchedule.objects.get().delay_days == 5

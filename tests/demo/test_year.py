"""A year of demo charges, as `manage.py seed_demo` writes it."""

from collections import Counter
from datetime import timedelta
from io import StringIO
from random import Random

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Max, Min, Sum

from customers.models import Customer, CustomerSource
from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.corrections import State as CorrectionState
from payments.invariants.checking import look
from payments.invariants.registry import INVARIANTS
from payments.ledger.totals import totals_of
from payments.models import (
    Attempt,
    Block,
    Card,
    Charge,
    Correction,
    Posting,
    ReconciliationItem,
    Refund,
    Settlement,
    StaffAct,
    UnknownOutcome,
    Webhook,
)
from payments.quickstart.demo import cast, plots, rhythm, staff_plots, year
from payments.quickstart.demo.odds import PLOTS
from tests.factories import ChargeFactory, SourceFactory


def seed(charges: int = 300, number: int = 1) -> str:
    """What the command says."""
    out = StringIO()
    call_command("seed_demo", charges=charges, seed=number, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_every_invariant_of_the_money_holds_after_it() -> None:
    seed()
    assert {invariant.name: look(invariant).ids for invariant in INVARIANTS if look(invariant).count} == {}


@pytest.mark.django_db
def test_it_writes_so_many_charges_over_a_year_until_now() -> None:
    seed(300)
    ends = Charge.objects.aggregate(first=Min("created_at"), last=Max("created_at"))
    assert Charge.objects.count() == 300
    assert clock.now() - rhythm.YEAR <= ends["first"] < clock.now() - timedelta(days=330)
    assert clock.now() - timedelta(hours=1) < ends["last"] <= clock.now()
    assert Charge.objects.dates("created_at", "month").count() >= 12


@pytest.mark.django_db
def test_it_leaves_work_for_operators() -> None:
    seed()
    assert Charge.objects.filter(action__isnull=False).exists()
    assert UnknownOutcome.objects.filter(state=Attempt.State.UNKNOWN).exists()
    assert Refund.objects.filter(status="pending").exists()
    assert Charge.objects.filter(hold_expires_at__range=(clock.now(), clock.now() + timedelta(days=2))).exists()
    assert Webhook.objects.filter(state="waiting", failures__gt=0).exists()
    assert ReconciliationItem.objects.filter(state="open").exists()
    assert Correction.objects.filter(state=CorrectionState.PROPOSED).exists()
    assert StaffAct.objects.proposed().filter(expires_at__gt=clock.now()).exists()


@pytest.mark.django_db
def test_what_is_rare_is_told_to_its_end() -> None:
    present = clock.now()
    [(shop, role)] = cast.shops(1, present - rhythm.YEAR, present, Random(1))
    for plot in (plots.came_late, plots.correction_rejected, plots.kept_for_a_while, plots.never_arrived):
        year.tell(plot, shop, role, present - timedelta(days=90), present).copy()
    assert Charge.objects.filter(reversed_late=True).exists()
    assert Correction.objects.filter(state=CorrectionState.REJECTED).exists()
    assert CustomerSource.objects.filter(detached_at__isnull=False).exists()
    assert not Attempt.objects.filter(due_at__isnull=False).exists()
    assert {invariant.name: look(invariant).ids for invariant in INVARIANTS if look(invariant).count} == {}


@pytest.mark.django_db
def test_what_operators_did_is_told_to_its_end() -> None:
    present = clock.now()
    [(shop, role)] = cast.shops(1, present - rhythm.YEAR, present, Random(1))
    for plot in (
        staff_plots.refunded_by_staff,
        staff_plots.refund_of_staff_approved,
        staff_plots.refund_of_staff_declined,
        staff_plots.released_by_staff,
        staff_plots.extended_by_staff,
        staff_plots.blocked,
    ):
        year.tell(plot, shop, role, present - timedelta(days=90), present).copy()
    assert set(StaffAct.objects.values_list("kind", "state", "decided_by__username")) == {
        ("refund", "done", None),
        ("refund", "done", "demo.efren"),
        ("refund", "declined", "demo.efren"),
        ("release", "done", None),
        ("extend", "done", None),
    }
    assert Charge.objects.get(staff_acts__kind="extend").hold_extended_days > 0
    assert Block.objects.in_force(clock.now()).exclude(card="").exists()
    assert Block.objects.exclude(lifted_at=None).exists()
    assert {invariant.name: look(invariant).ids for invariant in INVARIANTS if look(invariant).count} == {}


@pytest.mark.django_db
def test_it_keeps_cards_for_customers_and_no_number_that_has_served() -> None:
    seed()
    assert Customer.objects.exists()
    served = Card.objects.filter(source__charges__status="succeeded", source__vaulted=False)
    assert served.exists()
    assert not served.exclude(sealed_number=None)


@pytest.mark.django_db
def test_it_touches_nobody_else(shop: NewMerchant) -> None:
    source = SourceFactory(merchant=shop.merchant)
    seed()
    assert not Charge.objects.filter(merchant=shop.merchant).exists()
    assert source.charges.count() == 0


@pytest.mark.django_db
def test_a_second_year_differs_in_what_it_says_alone() -> None:
    seed(100)
    differences = ReconciliationItem.objects.count()
    assert "Sari Mart 2" in seed(100, number=2)
    assert Charge.objects.count() == 200
    assert ReconciliationItem.objects.filter(state="open").count() <= 2 * differences


@pytest.mark.django_db
def test_it_refuses_where_live_charges_are() -> None:
    ChargeFactory(livemode=True)
    with pytest.raises(CommandError, match="live charges"):
        seed()
    assert Charge.objects.count() == 1


@pytest.mark.django_db
def test_settlements_come_to_what_the_ledger_put_into_the_bank() -> None:
    seed()
    totals = totals_of(list(Settlement.objects.all())).values()
    in_bank = Posting.objects.filter(account="bank").aggregate(total=Sum("amount"))["total"]
    assert sum(total.gross - total.refunds for total in totals) == in_bank > 0


def test_moments_are_all_within_the_year_and_in_their_order() -> None:
    end = clock.now()
    moments = list(rhythm.moments(1000, end, Random(1)))
    assert len(moments) == 1000
    assert moments == sorted(moments)
    assert end - rhythm.YEAR <= moments[0] < moments[-1] < end


def test_business_grows_and_sleeps_at_night() -> None:
    end = clock.now()
    moments = list(rhythm.moments(20_000, end, Random(1)))
    middle = end - rhythm.YEAR / 2
    hours = Counter(moment.astimezone(rhythm.MANILA).hour for moment in moments)
    assert sum(moment > middle for moment in moments) > 10_500
    assert hours[20] > 5 * hours[3]


def test_every_plot_happens_sometimes() -> None:
    assert len({plot for plot, _ in PLOTS}) == len(PLOTS)
    assert all(weight > 0 for _, weight in PLOTS)

"""A year of demo charges, as `manage.py seed_demo` makes it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from io import StringIO
from random import Random

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import Max, Min, Sum
from django.urls import reverse
from pytest_django.plugin import DjangoDbBlocker

from customers.models import Customer
from payments import clock
from payments.domain.approvals.kinds.payouts import Outcome, outcomes_of
from payments.domain.merchants.merchants import create_merchant
from payments.domain.reconciliation.bank import balances
from payments.inbox.sections import SORT_NAMES
from payments.invariants.checks import check
from payments.invariants.registry import INVARIANTS
from payments.ledger.totals import totals_of
from payments.models import (
    Attempt,
    Block,
    Card,
    Charge,
    Correction,
    OperatorAction,
    OwnBankAccount,
    Payout,
    Posting,
    ReconciliationItem,
    ReconciliationRun,
    Refund,
    Settlement,
    Source,
    UnknownOutcome,
    Webhook,
    WebhookAttempt,
)
from payments.quickstart.demo import bank, business_hours, operator_scenarios, year
from payments.quickstart.demo.business_hours import YEAR
from payments.quickstart.demo.scenarios import Scenario
from payments.quickstart.demo.shops import create_shops
from tests.admin.conftest import text_of, the_operator
from tests.client import signed_in
from tests.factories import ChargeFactory

CHARGES, SECOND_CHARGES = 150, 60
NOBODY = "Not of the demo"

pytestmark = pytest.mark.long


def seed(charges: int = SECOND_CHARGES, number: int = 1) -> str:
    """Run the command; return what it prints."""
    out = StringIO()
    call_command("seed_demo", charges=charges, merchants=2, seed=number, stdout=out)
    return out.getvalue()


def broken_invariants() -> dict[str, Sequence[str]]:
    """Return the invariants of the money that do not hold, with the rows that break them."""
    return {invariant.name: check(invariant).ids for invariant in INVARIANTS if check(invariant).count}


def run(*several: Scenario) -> None:
    """Run scenarios at one shop that begin 90 days ago."""
    present = clock.now()
    [shop] = create_shops(1, present - YEAR, present, Random(1))
    year.run([(present - timedelta(days=90), shop, scenario) for scenario in several], present)


@pytest.fixture(scope="module")
def seeded(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Seed one year for the tests that only read it."""
    with django_db_blocker.unblock(), transaction.atomic():
        create_merchant(NOBODY)
        seed(CHARGES)
        yield
        transaction.set_rollback(True)


@pytest.mark.usefixtures("seeded")
class TestOneYear:
    def test_every_invariant_of_the_money_holds(self) -> None:
        assert broken_invariants() == {}

    def test_its_merchants_are_paid_out_and_one_payout_comes_back(self) -> None:
        payouts = Payout.objects.filter(livemode=False)
        assert set(payouts.values_list("merchant_id", flat=True)) == set(
            Charge.objects.values_list("merchant", flat=True)
        )
        assert payouts.filter(status=Payout.Status.PAID).count() > 50
        returned = payouts.get(status=Payout.Status.FAILED)
        assert returned.failure_code == "returned"
        assert payouts.filter(merchant=returned.merchant, status=Payout.Status.PAID, id__gt=returned.id).exists()

    def test_it_has_so_many_charges_over_a_year_until_now(self) -> None:
        ends = Charge.objects.aggregate(first=Min("created_at"), last=Max("created_at"))
        assert Charge.objects.count() == CHARGES
        assert clock.now() - YEAR <= ends["first"] < clock.now() - timedelta(days=330)
        assert clock.now() - timedelta(hours=1) < ends["last"] <= clock.now()
        assert Charge.objects.dates("created_at", "month").count() >= 12

    def test_charges_have_every_status(self) -> None:
        assert set(Charge.objects.values_list("status", flat=True)) == set(Charge.Status.values)

    def test_it_leaves_work_for_operators(self) -> None:
        assert Charge.objects.filter(action__isnull=False).exists()
        assert UnknownOutcome.objects.filter(state=Attempt.State.UNKNOWN).exists()
        assert Refund.objects.filter(status="pending").exists()
        assert Charge.objects.filter(hold_expires_at__range=(clock.now(), clock.now() + timedelta(days=2))).exists()
        assert Webhook.objects.filter(state="waiting", failures__gt=0).exists()
        assert Correction.objects.proposed().exists()
        assert OperatorAction.objects.proposed().filter(expires_at__gt=clock.now()).exists()

    def test_one_report_differs_and_operators_closed_a_part_of_it(self) -> None:
        assert ReconciliationRun.objects.exclude(provider=bank.NAME).count() == 12
        assert set(ReconciliationItem.objects.values_list("state", flat=True)) == {"open", "closed"}
        kinds = set(ReconciliationItem.objects.exclude(provider=bank.NAME).values_list("kind", flat=True))
        assert kinds == {"missing_here", "missing_there", "amount_differs"}

    def test_our_bank_lacks_one_batch_and_has_one_payout_back_that_the_ledger_has_as_paid(self) -> None:
        account = OwnBankAccount.objects.get()
        assert list(balances.breaks(balances.statements_of(account))) == []
        standing = balances.standing_of(account)
        assert standing
        assert standing.unexplained == 0
        assert [(each.what, each.count) for each in balances.late(account)] == [("batches", 1)]
        found = ReconciliationItem.objects.filter(provider=bank.NAME).order_by("kind")
        assert list(found.values_list("kind", flat=True)) == ["missing_here", "returned"]
        returned = found[1].line.bank.payout
        assert (returned.status, Outcome.RETURNED in outcomes_of(returned)) == ("paid", True)

    def test_webhooks_were_attempted_when_their_events_were_new(self) -> None:
        first = WebhookAttempt.objects.filter(number=1).select_related("webhook").earliest("started_at")
        assert first.started_at == first.webhook.created_at < clock.now() - timedelta(days=330)
        assert Webhook.objects.filter(state="delivered").exists()
        assert not Webhook.objects.filter(due_at__lt=clock.now() - timedelta(hours=1)).exists()

    def test_cards_are_vaulted_for_customers_and_other_numbers_destroyed(self) -> None:
        assert Customer.objects.exists()
        charged = Card.objects.filter(source__charges__status="succeeded", source__vaulted=False)
        assert charged.exists()
        assert not charged.exclude(sealed_number=None)

    def test_settlements_are_what_the_ledger_put_into_the_bank(self) -> None:
        totals = totals_of(list(Settlement.objects.all())).values()
        in_bank = Posting.objects.filter(account="bank", kind="settle").aggregate(total=Sum("amount"))["total"]
        assert sum(total.gross - total.refunds for total in totals) == in_bank > 0

    def test_other_merchants_are_not_touched(self) -> None:
        assert not Source.objects.filter(merchant__title=NOBODY).exists()
        assert not Charge.objects.filter(merchant__title=NOBODY).exists()

    def test_the_overview_shows_its_charges_and_what_is_to_be_done(self) -> None:
        text = text_of(signed_in(the_operator()).get(reverse("admin:index"), {"days": 90}))
        assert text.count("<rect") > 20
        assert text.count('class="nothing"') < len(SORT_NAMES)

    def test_a_second_year_is_of_other_merchants_and_matches_the_same_reports(self) -> None:
        differences = ReconciliationItem.objects.count()
        with transaction.atomic():
            assert "Sari Mart 2" in seed(number=2)
            assert Charge.objects.count() == CHARGES + SECOND_CHARGES
            assert ReconciliationItem.objects.filter(state="open").count() <= 2 * differences
            transaction.set_rollback(True)


@pytest.mark.django_db
def test_rare_scenarios_run_to_their_end() -> None:
    run(operator_scenarios.corrected, operator_scenarios.refund_approved, operator_scenarios.blocked)
    assert Correction.objects.get().state == "done"
    done = OperatorAction.objects.get()
    assert (done.kind, done.state, str(done.decided_by)) == ("refund", "done", "demo.efren")
    assert not Attempt.objects.filter(due_at__isnull=False).exists()
    assert Block.objects.in_force(clock.now()).exclude(card="").exists()
    assert Block.objects.exclude(lifted_at=None).exists()
    assert broken_invariants() == {}


@pytest.mark.django_db
def test_it_refuses_a_database_with_live_charges() -> None:
    ChargeFactory(livemode=True)
    with pytest.raises(CommandError, match="live charges"):
        seed()
    assert Charge.objects.count() == 1


def test_moments_are_all_within_the_year_and_in_their_order() -> None:
    end = clock.now()
    moments = list(business_hours.moments(1000, end - YEAR, end, Random(1)))
    assert len(moments) == 1000
    assert moments == sorted(moments)
    assert end - YEAR <= moments[0] < moments[-1] < end


def test_business_grows_and_is_quiet_at_night() -> None:
    end = clock.now()
    moments = list(business_hours.moments(20_000, end - YEAR, end, Random(1)))
    middle = end - YEAR / 2
    hours = Counter(moment.astimezone(business_hours.MANILA).hour for moment in moments)
    assert sum(moment > middle for moment in moments) > 10_500
    assert hours[20] > 5 * hours[3]


def test_the_smallest_year_has_every_scenario() -> None:
    chosen = year.choose_scenarios(year.FEWEST - len(year.UNDER_WAY), Random(1))
    assert len(chosen) == year.FEWEST - len(year.UNDER_WAY)
    assert set(chosen) == {scenario for scenario, _ in year.SCENARIOS}

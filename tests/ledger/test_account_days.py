"""The daily sums of the ledger are those of its postings, to the smallest unit, whatever happens when."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, create_merchant
from payments.domain.shared.errors import PaymentError
from payments.ids import first_id
from payments.invariants import checks, ledger
from payments.ledger import account_days, settlement
from payments.ledger.account_days import midnight, sum_up, sum_up_due
from payments.ledger.sums import Scope, is_final, sums
from payments.models import AccountDay, LedgerDay, Posting
from payments.quickstart.demo.sales import Sale
from tests.concurrency import at_once
from tests.ledger.books import charge_fees
from tests.overview.past_charges import days_ago, make_past_charge

# At midnight, the days before and after an assertion differ.
pytestmark = pytest.mark.usefixtures("noon")
[DAYS] = [each for each in ledger.INVARIANTS if each.name == "account_days_are_the_sums"]
Key = tuple[object, ...]
# What happens to a charge in its life, each some hours after the one before.
STEPS: dict[str, Callable[[Sale], object]] = {
    "capture": Sale.capture,
    "capture 400": lambda sale: sale.capture(400),
    "void": Sale.void,
    "refund 100": lambda sale: sale.refund(100),
    "refund": Sale.refund,
    "settle": lambda _: settlement.settle_all_due(),
}


def posted(until: datetime) -> Counter[Key]:
    """Return the balance of each account from every posting before `until`."""
    found: Counter[Key] = Counter()
    for row in Posting.objects.filter(created_at__lt=until):
        found[row.merchant_id, row.livemode, row.currency, row.account] += row.amount
    return Counter({key: amount for key, amount in found.items() if amount})


def summed(until: datetime) -> Counter[Key]:
    rows = sums(Scope(), ("merchant_id", "livemode", "currency", "account"), until)
    return Counter({row.key: row.balance for row in rows if row.balance})


def make_history(shop: NewMerchant, days: Iterable[tuple[int, int, bool, list[tuple[str, int]]]]) -> None:
    """Make a charge for each entry: days ago, amount, whether held, and its steps with the hours before each."""
    for ago, amount, hold, steps in days:
        moment = days_ago(ago)
        sale = make_past_charge(shop.merchant, moment, amount=amount, hold=hold)
        for step, hours in steps:
            moment += timedelta(hours=hours)
            # Not every step is possible in every state.
            with clock.at(moment), suppress(PaymentError):
                STEPS[step](sale)


histories = st.lists(
    st.tuples(
        st.integers(4, 40),
        st.integers(1, 5_000),
        st.booleans(),
        st.lists(st.tuples(st.sampled_from(list(STEPS)), st.integers(1, 40)), max_size=5),
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.long
@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories, hours=st.integers(1, 24 * 45))
def test_at_any_moment_the_sums_are_those_of_the_postings(shop: NewMerchant, history: list, hours: int) -> None:
    charge_fees(shop.merchant)
    moment = clock.now() - timedelta(hours=hours)
    with transaction.atomic():
        make_history(shop, history)
        assert summed(moment) == posted(moment)
        sum_up_due(limit=200)
        assert summed(moment) == posted(moment)
        assert checks.check(DAYS, None).count == 0
        # The next example has a past of its own.
        transaction.set_rollback(True)


@pytest.fixture
def history(shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    make_history(shop, [(3, 10_000, False, [("refund 100", 5), ("settle", 24)]), (1, 500, True, [])])


def test_each_day_that_is_over_is_summed_once_and_in_order(history: None) -> None:
    assert sum_up_due(limit=2) == 2
    sum_up_due()
    assert sum_up_due() == 0
    days = list(LedgerDay.objects.order_by("day").values_list("day", flat=True))
    assert days == [days[0] + timedelta(days=number) for number in range(len(days))]
    assert days[-1] in ((clock.now() - timedelta(days=1)).date(), (clock.now() - timedelta(days=2)).date())
    assert sum(day.postings for day in LedgerDay.objects.all()) == Posting.objects.count()


def test_summing_a_day_again_changes_nothing(history: None) -> None:
    sum_up_due()
    names = ("day", "account", "kind", "debits", "credits", "postings")
    before = sorted(AccountDay.objects.values_list(*names))
    for day in LedgerDay.objects.all():
        assert sum_up(day.day)
    assert sorted(AccountDay.objects.values_list(*names)) == before != []


def test_a_rebuild_includes_what_was_posted_into_the_past(shop: NewMerchant, history: None) -> None:
    sum_up_due()
    make_past_charge(shop.merchant, days_ago(5))
    call_command("sum_up")
    assert checks.check(DAYS, None).count == 0


def test_debits_are_credits_at_every_moment(history: None) -> None:
    sum_up_due()
    for ago in range(5):
        moment = clock.now() - timedelta(days=ago)
        assert sum(row.balance for row in sums(Scope(), ("account",), moment)) == 0


def test_a_posting_at_midnight_belongs_to_the_new_day(shop: NewMerchant) -> None:
    new_day = midnight(days_ago(2).date())
    make_past_charge(shop.merchant, new_day)
    rows = Posting.objects.filter(created_at__gte=new_day)
    assert rows.count() == Posting.objects.count() > 0
    sum_up_due()
    assert {row.day for row in AccountDay.objects.all()} == {new_day.date()}
    # One of the day before may have a later ID.
    assert LedgerDay.objects.earliest("day").day == new_day.date() - timedelta(days=1)
    assert not sums(Scope(), ("account",), new_day)


def test_scopes_leave_other_merchants_out(history: None) -> None:
    other = create_merchant("Other Store").merchant
    make_past_charge(other, days_ago(2), amount=777)
    sum_up_due()
    for merchants, expected in (([other.id], 777), (None, 777 + 9_900), ([], 0)):
        found = sums(Scope(merchants, accounts=["provider_receivable", "bank"]), ("currency",), clock.now())
        assert sum(row.balance for row in found) == expected, merchants


@pytest.mark.django_db(transaction=True)
def test_two_workers_sum_a_day_once(history: None) -> None:
    at_once(4, lambda _: sum_up_due())
    sum_up_due()
    assert checks.check(DAYS, None).count == 0
    assert summed(clock.now()) == posted(clock.now())


def test_a_month_is_final_once_its_last_day_is_summed(history: None) -> None:
    end = midnight(days_ago(1).date())
    assert not is_final(end)
    sum_up_due()
    assert is_final(end)
    assert not is_final(clock.now())


def test_a_late_commit_is_waited_for(shop: NewMerchant, monkeypatch: pytest.MonkeyPatch) -> None:
    make_past_charge(shop.merchant, days_ago(1))
    with clock.at(midnight(clock.now().date()) + account_days.COMMITTED_AFTER - timedelta(seconds=1)):
        sum_up_due()
    assert not AccountDay.objects.exists()
    with clock.at(midnight(clock.now().date()) + account_days.COMMITTED_AFTER + timedelta(seconds=1)):
        sum_up_due()
    assert AccountDay.objects.exists()


def test_an_id_is_found_beside_its_day(shop: NewMerchant) -> None:
    """A settlement's postings bear the moment of its lock, and their IDs come later."""
    make_past_charge(shop.merchant, days_ago(2).replace(hour=23, minute=59, second=59, microsecond=999_000))
    first = Posting.objects.order_by("id").first()
    assert first
    assert first.id < first_id(midnight(days_ago(1).date()) + timedelta(minutes=1))
    sum_up_due()
    assert checks.check(DAYS, None).count == 0

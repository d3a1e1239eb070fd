"""Running balances under concurrent postings."""

from collections.abc import Iterable
from uuid import UUID

import pytest
from django.db import connection, transaction

from payments.domain.merchants.merchants import NewMerchant
from payments.ids import new_id
from payments.invariants import ledger
from payments.invariants.checks import check
from payments.ledger.balances import Balance, balances_of
from payments.models import Charge, Posting, RunningBalance
from tests.client import Api
from tests.concurrency import at_once
from tests.factories import ChargeFactory

pytestmark = pytest.mark.django_db(transaction=True)

[BALANCES] = [each for each in ledger.INVARIANTS if each.name == "balances_are_the_sums"]
THREADS = 20
JOURNALS = 10
SHARDS = 16


def post(charges: Iterable[Charge]) -> None:
    """Post 100 on each of `charges`, in one statement."""
    lines = ((1, Posting.Account.PROVIDER_RECEIVABLE, 100), (2, Posting.Account.MERCHANT_PENDING, -100))
    Posting.objects.bulk_create(
        Posting(
            journal=journal,
            line=line,
            merchant_id=charge.merchant_id,
            livemode=charge.livemode,
            currency=charge.currency,
            account=account,
            kind=Posting.Kind.CAPTURE,
            amount=amount,
            charge=charge,
        )
        for charge, journal in [(charge, new_id()) for charge in charges]
        for line, account, amount in lines
    )


def pending(merchant_id: UUID) -> int:
    return balances_of(merchant_id, False)["PHP"].pending


def test_concurrent_postings_of_the_same_merchants_never_deadlock() -> None:
    charges = [ChargeFactory() for _ in range(4)]

    def post_often(number: int) -> None:
        for _ in range(JOURNALS):
            with transaction.atomic():
                post(charges[::-1] if number % 2 else charges)

    at_once(THREADS, post_often)

    assert [pending(charge.merchant_id) for charge in charges] == [THREADS * JOURNALS * 100] * len(charges)
    assert check(BALANCES).count == 0


def test_a_merchant_has_at_most_16_rows_for_a_currency() -> None:
    charge = ChargeFactory()
    at_once(THREADS, lambda _: post([charge]))
    assert RunningBalance.objects.filter(merchant=charge.merchant_id).count() <= SHARDS
    assert pending(charge.merchant_id) == THREADS * 100


def test_a_posting_that_is_rolled_back_leaves_the_balance_as_it_was() -> None:
    charge = ChargeFactory()
    post([charge])
    with transaction.atomic():
        post([charge])
        transaction.set_rollback(True)
    assert pending(charge.merchant_id) == 100


def test_an_update_of_a_balance_writes_no_index() -> None:
    charge = ChargeFactory()
    post([charge])
    before = updates()
    for _ in range(JOURNALS):
        post([charge])
    assert [now - then for now, then in zip(updates(), before, strict=True)] == [JOURNALS, JOURNALS]


def updates() -> tuple[int, int]:
    """How many rows of balances were updated, and how many of those without a new index row."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'payments_runningbalance'"
        )
        [(updated, hot)] = cursor.fetchall()
    return updated, hot


def test_the_sums_of_the_postings_are_the_balances(api: Api, shop: NewMerchant) -> None:
    api.held()
    api.charge(currency="JPY", amount=700)
    kept = balances_of(shop.merchant.id, False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT payments_sum_balances()")
    assert balances_of(shop.merchant.id, False) == kept
    assert kept["JPY"] == Balance(pending=700)

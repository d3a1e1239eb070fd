"""Settlement concurrent with other movements of money: each charge settles once, and the sums are right."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from payments.domain.charging import recovery
from payments.ledger import settlement
from payments.models import Attempt, Charge, Posting, Settlement
from payments.providers.base import Approved, Declined, Outcome, WebhookEvent
from tests.charging.elapsed_time import let_time_pass, recover, settle_refunds
from tests.client import REFUNDS_FAIL, REFUNDS_WAIT, Api, error_of
from tests.concurrency import at_once
from tests.ledger.books import row_of, settle, standing
from tests.ledger.ledger_check import check_books

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fees")]

WRITES_CHARGE = 'UPDATE "payments_charge"'
LOCKS = "SKIP LOCKED"


def in_thread(threads: ThreadPoolExecutor, do: Callable[[], object]) -> Future[None]:
    def run() -> None:
        try:
            do()
        finally:
            connection.close()

    return threads.submit(run)


@contextmanager
def interrupted(marker: str, interrupt: Callable[[Callable[[], Any]], Any]) -> Iterator[None]:
    """Let `interrupt` run this thread's first statement that contains `marker`."""
    waiting = True

    def wrap(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal waiting
        if waiting and marker in sql:
            waiting = False
            return interrupt(lambda: execute(sql, *rest))
        return execute(sql, *rest)

    with connection.execute_wrapper(wrap):
        yield
    assert not waiting


@contextmanager
def settled_before(marker: str) -> Iterator[None]:
    """Run a whole settlement between this thread's read of the charge and its change."""
    with ThreadPoolExecutor(1) as threads:

        def interrupt(proceed: Callable[[], Any]) -> Any:
            in_thread(threads, settle).result()
            return proceed()

        with interrupted(marker, interrupt):
            yield


def settle_while(do: Callable[[], object]) -> None:
    """Run a settlement that has locked its charges while another thread runs `do` and waits."""
    let_time_pass(Charge, "settle_due_at")
    with ThreadPoolExecutor(1) as threads:
        doing: list[Future[None]] = []

        def interrupt(proceed: Callable[[], Any]) -> Any:
            result = proceed()
            doing.append(in_thread(threads, do))
            while not doing[0].done() and not somebody_waits():
                pass
            return result

        with interrupted(LOCKS, interrupt):
            settlement.settle_due()
        doing[0].result()


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        [(found,)] = cursor.fetchall()
    return bool(found)


def report(outcome: Outcome) -> Callable[[], None]:
    """Return a function that reports the only refund's outcome."""
    return lambda: recovery.apply_event(WebhookEvent(Attempt.objects.get(kind="refund").reference, outcome))


ENDS = {"paid": Approved("so_1"), "failed": Declined("processing_error")}


def test_a_void_that_a_settlement_overtakes_asks_the_provider_for_nothing(api: Api) -> None:
    charge = api.charge()
    with settled_before(WRITES_CHARGE):
        refusal = api.post(f"/charges/{charge['id']}/void")
    assert (refusal.status_code, error_of(refusal)["code"]) == (409, "charge_not_voidable")
    assert not Attempt.objects.filter(kind="void").exists()
    check_books(row_of(charge))


def test_a_refund_that_a_settlement_overtakes_is_of_settled_money(api: Api) -> None:
    charge = api.charge()
    with settled_before(WRITES_CHARGE):
        assert api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000}).status_code == 200
    assert Posting.objects.get(kind="refund", amount__gt=0).account == "merchant_payable"
    check_books(row_of(charge))


@pytest.mark.parametrize("end", ENDS)
def test_the_end_of_a_refund_that_a_settlement_overtakes_is_posted_once(api: Api, end: str) -> None:
    charge = api.charge(REFUNDS_WAIT)
    api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000})
    with settled_before(WRITES_CHARGE):
        report(ENDS[end])()
    check_books(row_of(charge))
    assert Posting.objects.filter(kind__startswith="refund_").count() == 2


@pytest.mark.parametrize("end", ENDS)
def test_the_end_of_a_refund_waits_for_the_settlement_that_has_the_charge(api: Api, end: str) -> None:
    charge = api.charge(REFUNDS_WAIT)
    api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000})

    settle_while(report(ENDS[end]))

    check_books(row_of(charge))
    settle()
    check_books(row_of(charge))
    assert standing(account="provider_receivable") == {}


@pytest.mark.parametrize("verb", ["void", "refund"])
def test_an_operation_waits_for_the_settlement_that_has_the_charge(api: Api, verb: str) -> None:
    charge = api.charge()
    answers = []

    settle_while(lambda: answers.append(Api(api.key).post(f"/charges/{charge['id']}/{verb}").status_code))

    assert answers == [{"void": 409, "refund": 200}[verb]]
    check_books(row_of(charge))


def test_a_refund_that_fails_after_it_was_paid_waits_for_the_settlement_that_has_the_charge(api: Api) -> None:
    charge = api.charge(REFUNDS_FAIL)
    api.post(f"/charges/{charge['id']}/refund", {"amount": 4_000})

    settle_while(settle_refunds)

    check_books(row_of(charge))
    assert row_of(charge).amount_refunded == 0


def test_a_settlement_skips_a_locked_charge(api: Api) -> None:
    busy, free = row_of(api.charge()), row_of(api.charge())
    let_time_pass(Charge, "settle_due_at")
    with transaction.atomic(), ThreadPoolExecutor(1) as threads:
        Charge.objects.select_for_update().get(id=busy.id)
        in_thread(threads, settlement.settle_due).result()
    assert set(Charge.objects.filter(settled_at__isnull=False).values_list("id", flat=True)) == {free.id}


def test_concurrent_settlements_settle_each_charge_once(api: Api) -> None:
    for number in range(24):
        api.charge(currency=("PHP", "JPY", "USD")[number % 3])
    let_time_pass(Charge, "settle_due_at")

    settled = at_once(4, lambda _: settlement.settle_due(limit=5) + settlement.settle_all_due())

    assert sum(settled) == 24
    assert Posting.objects.filter(kind="settle", account="bank").count() == 24
    assert Settlement.objects.count() == 3
    assert standing(currency="JPY") == {"bank": 80_000, "merchant_payable": -80_000}


DOINGS: dict[str, Callable[[Api, str], object]] = {
    "void": lambda api, path: api.post(f"{path}/void"),
    "refund": lambda api, path: api.post(f"{path}/refund", {"amount": 100}),
    "refunds end": lambda api, path: settle_refunds(),
    "recovery": lambda api, path: recover(),
}


@pytest.mark.long
@pytest.mark.parametrize("card", [REFUNDS_WAIT, REFUNDS_FAIL], ids=["slow", "failing"])
@pytest.mark.parametrize("turn", range(3))
def test_concurrent_movements_and_settlements_leave_a_correct_ledger(api: Api, turn: int, card: str) -> None:
    charge = api.charge(card)
    path = f"/charges/{charge['id']}"
    api.post(f"{path}/refund", {"amount": 100})
    doings = [*DOINGS.values(), lambda api, path: settle(), lambda api, path: settle()]

    at_once(len(doings), lambda number: doings[number](Api(api.key), path))

    check_books(row_of(charge))
    settle_refunds()
    settle()
    check_books(row_of(charge))

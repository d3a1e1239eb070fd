"""Operators at the same files and payouts at once, and processes that die: each payout is in one file, or in none."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import pytest
from django.db import IntegrityError
from pytest_django import Settings

from payments import failpoints
from payments.db.writes import StaleRow
from payments.domain.approvals import decide, payouts
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import files, states
from payments.failpoints import Failpoint
from payments.ids import new_id
from payments.models import Payout, PayoutAccount, PayoutFile
from tests.concurrency import at_once
from tests.faults.processes import nursery
from tests.operators.factories import NOTE, person
from tests.payouts.live import DEBTORS, live_account, make_file, ready, sent
from tests.payouts.setups import live_payout

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account(shop: NewMerchant, settings: Settings) -> PayoutAccount:
    settings.PAYOUT_DEBTOR_NAME, settings.PAYOUT_DEBTOR_ACCOUNTS = "Kaha Philippines Inc.", DEBTORS
    person("ana"), person("ben")
    return live_account(shop.merchant)


def check() -> None:
    """Check that each open or sent file has the payouts that it was made of."""
    for file in PayoutFile.objects.filter(cancelled_at=None):
        amounts = list(file.payouts.values_list("amount", flat=True))
        assert (len(amounts), sum(amounts)) == (file.count, file.total)


@pytest.mark.long
def test_operators_who_make_files_at_once_take_each_payout_once(account: PayoutAccount) -> None:
    for _ in range(20):
        ready(account)

    def make(_: int) -> int:
        try:
            return make_file().count
        except Refused:
            return 0

    assert sum(at_once(4, make)) == 20
    assert not Payout.objects.filter(file=None).exists()
    check()


@pytest.mark.long
def test_a_payout_that_is_cancelled_while_a_file_is_made_is_not_in_it(account: PayoutAccount) -> None:
    approved = [ready(account) for _ in range(12)]

    def act(number: int) -> None:
        if number == 0:
            # All may have been cancelled before.
            with suppress(Refused):
                make_file()
            return
        for payout in Payout.objects.select_related("account").filter(id__in=[each.id for each in approved]):
            with suppress(StaleRow):
                states.cancel(payout)

    at_once(2, act)
    assert not Payout.objects.filter(status="cancelled").exclude(file=None).exists()
    assert not Payout.objects.filter(status="pending", file=None).exists()
    check()


@pytest.mark.long
def test_of_sending_and_cancelling_a_file_at_once_one_wins(account: PayoutAccount) -> None:
    ben, cleo = person("ben"), person("cleo")
    for _ in range(5):
        ready(account), ready(account)
        file = make_file()
        files.download(file)
        file.refresh_from_db()

        def act(number: int, file: PayoutFile = file) -> str:
            try:
                payouts.cancel_file(file, cleo) if number else decide.approve_or_ask(file, ben, NOTE)
            except Refused:
                return "refused"
            return "cancelled" if number else "sent"

        won = Counter(at_once(2, act))
        assert won["refused"] == 1
        statuses = {*Payout.objects.filter(file=file).values_list("status", flat=True)}
        assert statuses == ({"in_transit"} if won["sent"] else set())
        check()


def test_operators_who_mark_a_file_as_paid_at_once_pay_it_once(account: PayoutAccount) -> None:
    ready(account), ready(account)
    file = sent(make_file())

    def pay(_: int) -> int:
        try:
            return files.mark_paid(file, person("ben"))
        except Refused:
            return 0

    assert sorted(at_once(3, pay)) == [0, 0, 2]


@dataclass(frozen=True)
class AndDie:
    """Do something in a process that is killed at a step, or where it has no more."""

    job: Callable[[], object]
    step: Failpoint | None = None

    def __call__(self) -> None:
        failpoints.listen(lambda step: _die() if step is self.step else None)
        self.job()
        _die()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.long
def test_a_process_killed_while_it_makes_a_file_loses_no_payout(account: PayoutAccount) -> None:
    approved = {ready(account), ready(account)}
    lost, made = new_id(), new_id()
    with nursery() as processes:
        assert processes.run(AndDie(partial(make_file, file_id=lost), Failpoint.POSTED), lambda: None).killed
        assert not PayoutFile.objects.exists()
        assert processes.run(AndDie(partial(make_file, file_id=made)), lambda: None).killed
    assert set(PayoutFile.objects.get().payouts.all()) == approved
    # The operator sends the form again.
    ready(account)
    with pytest.raises(IntegrityError):
        make_file(file_id=made)
    check()


@pytest.mark.long
@pytest.mark.parametrize("what", ["payout", "file"])
def test_a_process_killed_while_it_lets_money_out_leaves_it_waiting_and_its_request_open(
    account: PayoutAccount, what: str
) -> None:
    row: Payout | PayoutFile
    if what == "file":
        ready(account)
        row = make_file()
        files.download(row)
    else:
        row = live_payout(account.merchant, 10_000, person("ana"), account=account)
    [request] = payouts.requests_of(row)
    approve = partial(decide.approve, request, person("ben"), NOTE)

    def standing() -> tuple[object, ...]:
        request.refresh_from_db()
        return request.state, *Payout.objects.values_list("status", "approval", "file__sent_at")

    before = standing()
    with nursery() as processes:
        assert processes.run(AndDie(approve, Failpoint.LET_OUT), lambda: None).killed
        assert standing() == before
        assert processes.run(AndDie(approve), lambda: None).killed
    after = standing()
    assert after != before
    with pytest.raises(Refused, match="no longer open"):
        approve()
    assert standing() == after

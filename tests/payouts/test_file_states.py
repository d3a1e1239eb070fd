"""A bank file after it was made: another person marks it as sent or cancels it, as a whole or not at all."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.approvals import decide, payouts
from payments.domain.operators import four_eyes
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import bank_file, files, states
from payments.models import ApprovalRequest, Event, Payout, PayoutAccount, PayoutFile
from payments.staff.roles import note_growth
from tests.operators.factories import NOTE, person
from tests.payouts.live import approval_of, make_file, ready, sent, stored_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("debtors")]


def statuses(file: PayoutFile) -> list[str]:
    return list(file.payouts.order_by("id").values_list("status", flat=True))


def test_a_sent_file_has_its_payouts_in_transit_with_their_events(account: PayoutAccount, ben: User) -> None:
    paid = [ready(account), ready(account)]
    file = sent(make_file())
    assert statuses(file) == ["in_transit"] * 2
    assert (ApprovalRequest.objects.get(subject_id=file.id).decided_by, file.is_open) == (ben, False)
    events = Event.objects.filter(object_id__in=[payout.id for payout in paid])
    assert [event.type for event in events] == ["payout.updated"] * 2


def test_who_makes_a_file_asks_that_it_is_sent_and_does_not_approve_it(account: PayoutAccount, ana: User) -> None:
    ready(account)
    file = make_file(by=ana)
    files.download(file)
    with pytest.raises(Refused, match="Another person"):
        decide.approve_or_ask(file, ana, NOTE)
    assert payouts.requests_of(file).get().proposed_by == ana


@pytest.mark.parametrize("forged", [None, {"total": 1}, {"currency": "EUR"}])
def test_the_database_lets_no_file_out_but_by_a_request_about_it_that_is_done(forged: dict[str, object] | None) -> None:
    file = stored_file()
    if forged is not None:
        approval_of(file)
    PayoutFile.objects.update(downloaded_at=clock.now(), sent_at=clock.now(), **forged or {})
    with pytest.raises(IntegrityError, match="approved by no request"), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    connection.set_rollback(True)


def test_a_file_that_nobody_has_is_neither_sent_nor_paid(account: PayoutAccount, ben: User) -> None:
    ready(account)
    file = make_file()
    with pytest.raises(Refused, match="Nobody has downloaded"):
        decide.approve_or_ask(file, ben, NOTE)
    with pytest.raises(Refused, match="in transit"):
        files.mark_paid(file, ben)


def test_a_file_is_sent_as_a_whole_or_not_at_all(account: PayoutAccount, ben: User) -> None:
    ready(account)
    last = ready(account)
    file = make_file()
    files.download(file)
    about = {"merchant": account.merchant, "livemode": True, "object_id": last.id, "type": "payout.updated"}
    Event.objects.create(**about, sequence=last.version + 1, payload=b"{}")
    with pytest.raises(Refused, match="could not be recorded"):
        decide.approve_or_ask(file, ben, NOTE)
    assert statuses(file) == ["pending"] * 2
    assert PayoutFile.objects.get().is_open


def test_a_cancelled_file_frees_its_payouts_for_the_next(account: PayoutAccount, ana: User) -> None:
    freed = [ready(account), ready(account)]
    file = make_file(by=ana)
    payouts.cancel_file(file, ana)
    with pytest.raises(Refused, match="was cancelled"):
        files.download(file)
    assert list(make_file().payouts.order_by("id")) == freed


def test_who_has_new_rights_cancels_a_file_of_their_own_alone(
    account: PayoutAccount, ana: User, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(four_eyes, "NEW_FOR", timedelta(hours=24))
    ready(account)
    file = make_file(by=ana)
    note_growth(ana, ben)
    with pytest.raises(Refused, match="Your rights are new"):
        payouts.cancel_file(file, ben)
    payouts.cancel_file(file, ana)
    assert PayoutFile.objects.get().cancelled_by == ana


def test_a_file_that_is_cancelled_while_it_is_written_goes_to_nobody(
    account: PayoutAccount, ana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(account)
    file, real = make_file(by=ana), bank_file.render

    def cancelled_meanwhile(*written: Any) -> bytes:
        payouts.cancel_file(PayoutFile.objects.get(), ana)
        return real(*written)

    monkeypatch.setattr(bank_file, "render", cancelled_meanwhile)
    with pytest.raises(Refused, match="meanwhile"):
        files.download(file)
    assert PayoutFile.objects.get().downloaded_at is None


def test_a_file_that_somebody_has_is_cancelled_by_another_than_its_maker(
    account: PayoutAccount, ana: User, ben: User
) -> None:
    ready(account)
    stale = file = make_file(by=ana)
    files.download(file)
    with pytest.raises(Refused, match="Another operator"):
        payouts.cancel_file(stale, ana)
    with pytest.raises(Refused, match="Another person checks"):
        payouts.cancel_file(PayoutFile.objects.get(), ana)
    with pytest.raises(IntegrityError, match="cancelled_by_another"), transaction.atomic():
        PayoutFile.objects.update(cancelled_by=ana, cancelled_at=clock.now())
    payouts.cancel_file(PayoutFile.objects.get(), ben)
    assert not Payout.objects.exclude(file=None).exists()


def test_a_sent_file_is_neither_cancelled_nor_sent_again(account: PayoutAccount, ben: User) -> None:
    ready(account)
    file = sent(make_file())
    with pytest.raises(Refused, match="meanwhile"):
        payouts.cancel_file(file, ben)
    with pytest.raises(Refused, match="meanwhile"):
        decide.approve_or_ask(file, ben, NOTE)
    assert statuses(file) == ["in_transit"]


def test_a_payout_in_a_file_is_not_cancelled(account: PayoutAccount) -> None:
    payout = ready(account)
    make_file()
    with pytest.raises(StaleRow):
        states.cancel(payout)
    with pytest.raises(IntegrityError, match="payout_in_file"), transaction.atomic():
        Payout.objects.update(status="cancelled", ended_at=clock.now())


def test_a_file_marked_as_paid_pays_what_the_bank_did_not_return(account: PayoutAccount) -> None:
    returned = ready(account)
    ready(account), ready(account)
    file = sent(make_file())
    states.mark_failed(Payout.objects.select_related("account").get(id=returned.id), "returned")
    assert files.mark_paid(file, person("ben")) == 2
    assert statuses(file) == ["failed", "paid", "paid"]
    with pytest.raises(Refused, match="in transit"):
        files.mark_paid(file, person("ben"))

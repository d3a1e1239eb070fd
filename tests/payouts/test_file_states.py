"""A bank file after it was made: another person marks it as sent or cancels it, as a whole or not at all."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from payments import clock
from payments.db.writes import StaleRow
from payments.domain.operators import four_eyes
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts import bank_file, files, states
from payments.models import Event, Payout, PayoutAccount, PayoutFile
from payments.staff.roles import note_growth
from tests.operators.factories import person
from tests.payouts.live import make_file, ready, sent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("debtors")]


def statuses(file: PayoutFile) -> list[str]:
    return list(file.payouts.order_by("id").values_list("status", flat=True))


def test_a_sent_file_has_its_payouts_in_transit_with_their_events(account: PayoutAccount, ben: User) -> None:
    payouts = [ready(account), ready(account)]
    file = sent(make_file())
    assert statuses(file) == ["in_transit"] * 2
    assert (file.sent_by, file.is_open) == (ben, False)
    events = Event.objects.filter(object_id__in=[payout.id for payout in payouts])
    assert [event.type for event in events] == ["payout.updated"] * 2


def test_nobody_marks_their_own_file_as_sent(account: PayoutAccount, ana: User) -> None:
    ready(account)
    file = make_file(by=ana)
    files.download(file)
    file.refresh_from_db()
    with pytest.raises(Refused, match="Another person"):
        files.mark_sent(file, ana)
    with pytest.raises(IntegrityError, match="payout_file_sent_by_another"), transaction.atomic():
        PayoutFile.objects.update(sent_by=ana, sent_at=clock.now())


def test_a_file_that_nobody_has_is_neither_sent_nor_paid(account: PayoutAccount, ben: User) -> None:
    ready(account)
    file = make_file()
    for verb, why in ((files.mark_sent, "Nobody has downloaded"), (files.mark_paid, "in transit")):
        with pytest.raises(Refused, match=why):
            verb(file, ben)


def test_a_file_is_sent_as_a_whole_or_not_at_all(account: PayoutAccount, ben: User) -> None:
    ready(account)
    last = ready(account)
    file = make_file()
    files.download(file)
    file.refresh_from_db()
    about = {"merchant": account.merchant, "livemode": True, "object_id": last.id, "type": "payout.updated"}
    Event.objects.create(**about, sequence=last.version + 1, payload=b"{}")
    with pytest.raises(IntegrityError):
        files.mark_sent(file, ben)
    assert statuses(file) == ["pending"] * 2
    assert PayoutFile.objects.get().is_open


def test_a_cancelled_file_frees_its_payouts_for_the_next(account: PayoutAccount, ana: User) -> None:
    payouts = [ready(account), ready(account)]
    file = make_file(by=ana)
    files.cancel(file, ana)
    with pytest.raises(Refused, match="was cancelled"):
        files.download(file)
    assert list(make_file().payouts.order_by("id")) == payouts


def test_who_has_new_rights_cancels_a_file_of_their_own_alone(
    account: PayoutAccount, ana: User, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(four_eyes, "NEW_FOR", timedelta(hours=24))
    ready(account)
    file = make_file(by=ana)
    note_growth(ana, ben)
    with pytest.raises(Refused, match="Your rights are new"):
        files.cancel(file, ben)
    files.cancel(file, ana)
    assert PayoutFile.objects.get().cancelled_by == ana


def test_a_file_that_is_cancelled_while_it_is_written_goes_to_nobody(
    account: PayoutAccount, ana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(account)
    file, real = make_file(by=ana), bank_file.render

    def cancelled_meanwhile(*written: Any) -> bytes:
        files.cancel(PayoutFile.objects.get(), ana)
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
        files.cancel(stale, ana)
    with pytest.raises(Refused, match="Another person checks"):
        files.cancel(PayoutFile.objects.get(), ana)
    with pytest.raises(IntegrityError, match="cancelled_by_another"), transaction.atomic():
        PayoutFile.objects.update(cancelled_by=ana, cancelled_at=clock.now())
    files.cancel(PayoutFile.objects.get(), ben)
    assert not Payout.objects.exclude(file=None).exists()


def test_a_sent_file_is_neither_cancelled_nor_sent_again(account: PayoutAccount, ben: User) -> None:
    ready(account)
    file = sent(make_file())
    for change in (files.cancel, files.mark_sent):
        with pytest.raises(Refused, match="meanwhile"):
            change(file, ben)
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

"""What the pages say of our bank accounts, and what people do there."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.reconciliation.bank import balances
from payments.inbox.sorts import SORTS
from payments.models import (
    ApprovalRequest,
    AuditEntry,
    OwnBankAccount,
    PayoutAccount,
    ReconciliationItem,
    ReportLine,
    ReportUpload,
)
from payments.tasks import run_sweep
from tests.admin.conftest import text_of, words_of
from tests.client import signed_in
from tests.operators.factories import person
from tests.reconciliation.bank.files import camt, details, entry
from tests.reconciliation.bank.stories import batch, items, matched, read, sent_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("debtors"), pytest.mark.long]
REASON = {"reason": "Seen in the bank's letter."}


@pytest.fixture
def finance() -> Client:
    return signed_in(person("maria", "finance"))


def page(row: Any, step: str = "change") -> str:
    return reverse(f"admin:payments_{row._meta.model_name}_{step}", args=[row.pk])


def at(day: int) -> Any:
    return clock.at(datetime(2026, 11, day, 12, tzinfo=UTC))


def test_finance_adds_an_account_whose_name_stays(finance: Client) -> None:
    fields = {"name": "bpi-payouts", "currency": "PHP", "last4": "4455", "providers": ["adyen"], "days": "3"}
    add = reverse("admin:payments_ownbankaccount_add")
    assert "It is the name of a provider." in text_of(finance.post(add, fields | {"name": "xendit"}))
    mixed = finance.post(add, fields | {"providers": ["adyen", "simulator"]})
    assert "no other pays to it" in text_of(mixed)
    finance.post(add, fields)
    account = OwnBankAccount.objects.get()
    finance.post(page(account), fields | {"name": "other", "days": "4"})
    account.refresh_from_db()
    assert (account.name, account.days, account.providers) == ("bpi-payouts", 4, ["adyen"])
    assert AuditEntry.objects.filter(object_id=str(account.pk), actor="maria").count() == 2


def test_a_statement_is_uploaded_and_read_by_the_worker(ours: OwnBankAccount, finance: Client) -> None:
    text = camt(entry("-5.00"), entry("7.00"))
    upload = reverse("admin:payments_reportupload_upload")
    for _ in range(2):
        file = SimpleUploadedFile("november.xml", text.encode(), "text/xml")
        finance.post(upload, {"provider": ours.name, "report": file})
        assert run_sweep("read_uploaded_reports")
    first, again = ReportUpload.objects.order_by("created_at")
    assert (first.state, first.rows, first.rows_read, first.sealed_content) == ("done", 2, 2, None)
    assert (again.state, again.fault) == ("refused", "all of it was read before, so nothing was changed.")
    assert len(items()) == 2


def test_a_payout_says_when_it_left_our_bank_and_when_it_came_back(
    account: PayoutAccount, ours: OwnBankAccount, finance: Client
) -> None:
    file, [payout, other] = sent_file(account, 10_000, 2_000)
    whole = entry("-120.00", details(file.id.hex, path="PmtInfId"))
    back = entry("100.00", details(payout.id.hex, reason="AC04"), day="2026-11-27")
    part = entry("15.00", details(other.id.hex))
    read(camt(whole, back, part), ours)
    assert "paid ₱120.00 on 26 Nov 2026" in text_of(finance.get(page(other)))
    item, only_a_part = ReconciliationItem.objects.order_by("pk")
    assert "Mark as returned" not in text_of(finance.get(page(only_a_part)))
    assert "received ₱15.00 on 26 Nov 2026" in text_of(finance.get(page(other)))
    assert "received ₱100.00 (AC04: the account is closed)" in text_of(finance.get(page(item)))
    finance.post(page(item, "mark_returned"), REASON)
    request = ApprovalRequest.objects.get(kind="record_payout")
    assert (request.subject_id, request.after) == (payout.id, {"status": "returned"})
    payout.refresh_from_db()
    assert payout.status == "in_transit"


def test_a_suspicion_is_confirmed_on_its_page(account: PayoutAccount, ours: OwnBankAccount, finance: Client) -> None:
    _, [payout] = sent_file(account, 10_000)
    read(camt(entry("-100.00", details("", text="Friday"))), ours)
    text = text_of(finance.get(page(ReconciliationItem.objects.get())))
    assert f"perhaps payout to {payout.merchant}, ₱100.00" in text
    assert "Friday" in text
    assert f'value="{payout.id}"' in finance.get(page(ReconciliationItem.objects.get(), "confirm")).text
    finance.post(page(ReconciliationItem.objects.get(), "confirm"), REASON | {"shown": payout.id})
    assert matched() == [-10_000]


def test_a_batch_says_when_it_arrived(ours: OwnBankAccount, finance: Client) -> None:
    paid = batch(80_000, "BATCH-0042")
    read(camt(entry("800.00", details("", text="BATCH-0042"))), ours)
    assert "received ₱800.00 on 26 Nov 2026" in text_of(finance.get(page(paid)))
    assert "what simulator paid, BATCH-0042" in text_of(finance.get(page(ReportLine.objects.get(kind="booked"))))


def late() -> list[str]:
    sort = next(sort for sort in SORTS if sort.name == "not_arrived")
    return [f"{each.what} {each.amount}".strip() for each in sort.section(None, 10).entries]


def test_the_inbox_and_the_first_page_say_what_has_not_arrived_in_its_days(
    account: PayoutAccount, ours: OwnBankAccount, finance: Client
) -> None:
    sent_file(account, 10_000, 2_000)
    batch(80_000, "BATCH-0042", day=25)
    with at(28):
        read(camt(day="2026-11-25"), ours)
        assert late() == []
        read(camt(day="2026-11-28", name="S-2"), ours)
        found = [
            "2 payouts not left bpi-payouts in 3 days ₱120.00",
            "1 batch not reached bpi-payouts in 3 days ₱800.00",
        ]
        assert late() == found
        for address in (reverse("admin:index"), page(ours)):
            assert "2 payouts not left bpi-payouts in 3 days" in text_of(finance.get(address))
    with at(30):
        assert late() == found
        OwnBankAccount.objects.update(days=1)
        assert late()[-1] == "No statement of bpi-payouts since 28 Nov 2026"


def test_an_account_is_shown_by_the_bank_by_the_ledger_and_on_its_way(
    account: PayoutAccount, ours: OwnBankAccount, finance: Client
) -> None:
    _, [payout, _] = sent_file(account, 10_000, 2_000)
    batch(80_000, "BATCH-0042", day=26)
    read(camt(entry("-100.00", details(payout.id.hex)), entry("-5.00"), closing="895.00", day="2026-11-25"), ours)
    read(camt(opening="895.00", closing="895.00", day="2026-11-26", name="S-2"), ours)
    found = balances.standing_of(ours)
    assert found == balances.Standing(
        by_bank=89_500, by_ledger=100_000 + 80_000 - 12_000, arriving=80_000, leaving=2_000, unmatched=-500
    )
    assert found.unexplained == 0
    text = words_of(finance.get(page(ours)))
    assert "bpi-payouts had ₱895.00 on 26 Nov 2026" in text
    for words in ("₱1,680.00", "Not at the bank yet −₱800.00", "The bank has it yet ₱20.00", "without a match −₱5.00"):
        assert words in text


def test_gaps_overlaps_and_sums_that_do_not_add_up_are_said(ours: OwnBankAccount, finance: Client) -> None:
    read(camt(day="2026-11-01", opening="1.00", closing="2.00"), ours)
    read(camt(day="2026-11-02", name="S-2", opening="2.00", closing="2.00"), ours)
    read(camt(day="2026-11-04", name="S-3", opening="5.00", closing="5.00"), ours)
    late = entry("1.00", day="2026-11-01")
    read(camt(late, day="2026-11-05", name="S-4", opening="1.00", closing="2.00"), ours)
    assert [
        (statement.name, what, amount) for statement, what, amount in balances.breaks(balances.statements_of(ours))
    ] == [
        ("S-1", "balances and movements differ", -100),
        ("S-3", "a gap after S-2 of 02 Nov 2026", 300),
        ("S-4", "an overlap after S-3 of 04 Nov 2026", -400),
    ]
    assert "a gap after S-2 of 02 Nov 2026, ₱3.00" in text_of(finance.get(page(ours)))


def test_the_page_of_a_statement_says_what_its_movements_are(
    account: PayoutAccount, ours: OwnBankAccount, finance: Client
) -> None:
    _, [payout, other] = sent_file(account, 10_000, 2_000)
    fee = entry("-5.00", details("", text="Account fee"))
    run = read(camt(entry("-99.00", details(payout.id.hex)), entry("-20.00", details(other.id.hex)), fee), ours)
    text = words_of(finance.get(page(run)))
    assert (
        f"In the report: paid ₱99.00. In the ledger: payout to {payout.merchant}, ₱100.00 Amount differs ₱1.00" in text
    )
    assert "Matched PHP 1 −₱20.00 −₱20.00 ₱0.00" in text
    assert "Account fee" in text
    assert "Covers" not in text
    listed = words_of(finance.get(reverse("admin:payments_reportline_changelist"), {"provider": ours.name}))
    for words in (f"payout to {payout.merchant}", "Account fee", "26 Nov 2026", "Provider: bpi-payouts ×"):
        assert words in listed

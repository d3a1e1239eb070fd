"""Movements on our account are matched by name; amount and day alone make a suspicion, which a person confirms."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain.approvals.kinds.payouts import Outcome, record_outcome
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import files as bank_files
from payments.domain.reconciliation import items as decisions
from payments.domain.reconciliation import matcher, runs
from payments.domain.reconciliation.bank import line_matcher
from payments.domain.reconciliation.files import BadReport
from payments.domain.reconciliation.items import TooLate
from payments.models import (
    AuditEntry,
    BankLine,
    BankStatement,
    OwnBankAccount,
    Payout,
    PayoutAccount,
    PayoutFile,
    ReconciliationItem,
    ReconciliationRun,
    ReportLine,
)
from tests.client import Api
from tests.invariants.test_invariants import broken
from tests.payouts.stories import give_account, give_schedule, paid_out, settled
from tests.reconciliation.bank.files import camt, details, entry, mt940
from tests.reconciliation.bank.stories import SENT, batch, items, matched, own_account, read, sent_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("debtors")]


def test_our_own_bank_file_is_answered_by_a_statement_made_from_it(
    account: PayoutAccount, ours: OwnBankAccount
) -> None:
    file, payouts = sent_file(account, 10_000, 2_550)
    written = bank_files.download(file).decode()
    paid = [(each.id.hex, f"-{each.amount / 100:.2f}") for each in payouts]
    assert all(f"<EndToEndId>{name}</EndToEndId>" in written for name, _ in paid)
    run = read(camt(*(entry(amount, details(name)) for name, amount in paid)), ours)
    assert (run.lines, run.matched, run.differences) == (2, 2, {})
    assert {line.payout for line in BankLine.objects.all()} == set(payouts)
    assert set(Payout.objects.values_list("status", flat=True)) == {"in_transit"}


@pytest.mark.parametrize(
    ("amount", "kind"), [("-99.99", "amount_differs"), ("-100.00", ""), ("100.00", "returned"), ("95.00", "returned")]
)
def test_a_movement_with_our_name_is_that_payout_and_may_differ(
    amount: str, kind: str, account: PayoutAccount, ours: OwnBankAccount
) -> None:
    _, [payout] = sent_file(account, 10_000)
    read(camt(entry(amount, details(payout.id.hex))), ours)
    assert [found for found, _ in items()] == ([kind] if kind else [])
    assert BankLine.objects.get().payout == payout


def test_another_currency_under_our_name_differs(account: PayoutAccount, ours: OwnBankAccount) -> None:
    _, [payout] = sent_file(account, 10_000)
    read(camt(entry("-100.00", details(payout.id.hex), Amt="<Amt Ccy='EUR'>100.00</Amt>"), kind="054"), ours)
    assert items() == [("currency_differs", -10_000)]


def test_what_leaves_twice_is_reported_twice_and_both_messages_of_a_bank_say_it_once(
    account: PayoutAccount, ours: OwnBankAccount
) -> None:
    _, [payout] = sent_file(account, 10_000)
    intraday = entry("-100.00", details(payout.id.hex, text="intraday"), ref="B1")
    read(camt(intraday, kind="052"), ours)
    read(camt(entry("-100.00", details(payout.id.hex), ref="B1"), opening="1100.00"), ours)
    assert (matched(), items()) == ([-10_000], [])
    read(camt(entry("-100.00", details(payout.id.hex), ref="B2"), name="S-2"), ours)
    assert (matched(), items()) == ([-10_000], [("reported_twice", -10_000)])


@pytest.mark.parametrize("named", [True, False])
def test_a_batch_with_the_sum_of_a_file_is_the_file(named: bool, account: PayoutAccount, ours: OwnBankAccount) -> None:
    file, _ = sent_file(account, 10_000, 5_000)
    name = f"<PmtInfId>{file.id.hex}</PmtInfId>" if named else ""
    read(camt(entry("-150.00", f"<NtryDtls><Btch>{name}<NbOfTxs>2</NbOfTxs></Btch></NtryDtls>")), ours)
    assert (matched(), items(), BankLine.objects.get().file) == ([-15_000], [], file)


@pytest.mark.parametrize("together", [True, False])
def test_a_file_and_a_payout_in_it_do_not_both_leave(
    together: bool, account: PayoutAccount, ours: OwnBankAccount
) -> None:
    file, [payout, _] = sent_file(account, 10_000, 5_000)
    part, whole = entry("-100.00", details(payout.id.hex)), entry("-150.00", details(file.id.hex, path="PmtInfId"))
    for text in [camt(part, whole)] if together else [camt(part), camt(whole, name="S-2")]:
        read(text, ours)
    left, twice = (-15_000, -10_000) if together else (-10_000, -15_000)
    assert (matched(), items()) == ([left], [("reported_twice", twice)])


def test_a_suspicion_of_a_payout_is_not_confirmed_once_its_file_left(
    account: PayoutAccount, ours: OwnBankAccount, ben: User
) -> None:
    sent_file(account, 10_000, 5_000)
    read(camt(entry("-100.00"), entry("-150.00")), ours)
    whole, part = ReconciliationItem.objects.order_by("line__amount")
    shown = {each.line_id: line_matcher.key_of(each) for each in BankLine.objects.all()}
    line_matcher.confirm(whole, shown[whole.line_id], ben, "In the letter.")
    with pytest.raises(TooLate):
        line_matcher.confirm(part, shown[part.line_id], ben, "In the letter, too.")
    assert matched() == [-15_000]


def test_a_batch_whose_name_begins_with_anothers_is_not_that(ours: OwnBankAccount) -> None:
    batch(80_000, "BATCH-1"), batch(70_000, "PAYOUT-7"), batch(60_000, "PAYOUT-7")
    read(camt(entry("800.00", details("", text="BATCH-10")), entry("600.00", details("", text="payout-7 x"))), ours)
    assert (matched(), items()) == ([60_000], [("suspected", 80_000)])


def test_thousands_of_movements_are_matched_by_plans_for_many_and_again_less_often(ours: OwnBankAccount) -> None:
    text = camt(*(entry("-1.00", ref=f"F{number}") for number in range(1_001)))
    with CaptureQueriesContext(connection) as queries:
        read(text, ours)
    assert "SET LOCAL enable_nestloop = off" in [query["sql"] for query in queries]
    now = clock.now()
    for minutes, is_due in ((0, True), (0.5, False), (1.1, True)):
        with clock.at(now + timedelta(minutes=minutes)):
            assert matcher.arrived(10, clock.now()) == [(ours.name, [])] * is_due
            runs.recheck_arrived()


def test_of_two_files_with_the_same_sum_a_batch_without_a_name_is_a_suspicion(
    account: PayoutAccount, ours: OwnBankAccount
) -> None:
    files = [sent_file(account, 10_000, 5_000)[0], sent_file(account, 5_000, 10_000)[0]]
    read(camt(entry("-150.00", "<NtryDtls><Btch><NbOfTxs>2</NbOfTxs></Btch></NtryDtls>")), ours)
    assert (matched(), items()) == ([], [("suspected", -15_000)])
    assert BankLine.objects.get().file in files


def test_a_batch_of_a_provider_arrives_by_its_name_or_is_a_suspicion(ours: OwnBankAccount) -> None:
    named, other = batch(80_000, "BATCH-0042"), batch(70_000, "BATCH-0043")
    read(camt(entry("800.00", details("", text="Simulator BATCH-0042")), entry("700.00")), ours)
    assert (matched(), items()) == ([80_000], [("suspected", 70_000)])
    assert [line.batch for line in BankLine.objects.order_by("line__amount")] == [other, named]
    arrived = ReportLine.objects.filter(kind="payout", matched_at__isnull=False)
    assert list(arrived) == [named]


def test_a_batch_is_no_difference_between_its_report_and_the_ledger(ours: OwnBankAccount) -> None:
    batch(80_000, "BATCH-0042")
    run = runs.reconcile(runs.provider_report("simulator"), ReconciliationRun.Origin.COMMAND)
    assert run.differences == {}


@pytest.mark.parametrize(
    ("days", "kind"), [(0, "suspected"), (3, "suspected"), (4, "missing_here"), (-2, "missing_here")]
)
def test_amount_and_day_within_the_days_of_the_account_are_a_suspicion(
    days: int, kind: str, account: PayoutAccount, ours: OwnBankAccount
) -> None:
    sent_file(account, 10_000)
    read(camt(entry("-100.00", day=f"{SENT + timedelta(days=days):%Y-%m-%d}")), ours)
    assert (matched(), items()) == ([], [(kind, -10_000)])


def test_a_person_confirms_a_suspicion_once(account: PayoutAccount, ours: OwnBankAccount, ben: User) -> None:
    sent_file(account, 10_000)
    read(camt(entry("-100.00"), entry("-100.00", day="2026-11-27")), ours)
    first, second = ReconciliationItem.objects.order_by("line__booked_at")
    shown = line_matcher.key_of(BankLine.objects.get(line=first.line_id))
    with pytest.raises(TooLate):
        line_matcher.confirm(first, str(ben.pk), ben, "Another payment was shown.")
    line_matcher.confirm(first, shown, ben, "It is in the bank's letter.")
    assert (matched(), BankLine.objects.get(line=first.line_id).confirmed_by) == ([-10_000], ben)
    for item in (first, second):
        with pytest.raises(TooLate):
            line_matcher.confirm(item, shown, ben, "Again.")
    assert AuditEntry.objects.filter(action="approved", object_id=str(first.pk)).count() == 1
    runs.recheck_arrived()
    assert items() == [("missing_here", -10_000)]


def test_a_suspicion_that_is_closed_is_not_had_again(account: PayoutAccount, ours: OwnBankAccount, ben: User) -> None:
    sent_file(account, 10_000)
    read(camt(entry("-100.00")), ours)
    decisions.close(ReconciliationItem.objects.get(), ben, "The rent.")
    read(camt(entry("-1.00"), name="S-2"), ours)
    assert (matched(), items()) == ([], [("missing_here", -10_000), ("missing_here", -100)])


def test_a_name_that_comes_later_takes_the_place_of_a_suspicion(account: PayoutAccount, ours: OwnBankAccount) -> None:
    _, [payout] = sent_file(account, 10_000)
    read(camt(entry("-100.00")), ours)
    read(camt(entry("-100.00", details(payout.id.hex)), name="S-2"), ours)
    assert (matched(), items()) == ([-10_000], [("missing_here", -10_000)])


def test_a_payout_that_came_back_is_matched_when_the_ledger_has_it_as_returned(
    account: PayoutAccount, ours: OwnBankAccount
) -> None:
    _, [payout] = sent_file(account, 10_000)
    out, back = entry("-100.00", details(payout.id.hex)), entry("100.00", details(payout.id.hex, reason="AC04"))
    read(camt(out, back), ours)
    assert (matched(), items()) == ([-10_000], [("returned", 10_000)])
    record_outcome(payout.id, Outcome.RETURNED, "in_transit")
    runs.recheck_arrived()
    assert (matched(), items()) == ([-10_000, 10_000], [])
    assert ReconciliationItem.objects.get().label == "Matched since"


def test_a_payout_of_test_mode_leaves_the_account_that_the_simulator_pays_and_may_come_back(
    api: Api, shop: NewMerchant, ours: OwnBankAccount
) -> None:
    settled(api)
    give_account(shop.merchant)
    payout = paid_out(give_schedule(shop.merchant))
    amount = f"{payout.amount / 100:.2f}"
    text = camt(entry(f"-{amount}", details(payout.id.hex)), entry(amount, details(payout.id.hex)))
    read(text, own_account(name="bpi-live", providers=["adyen"]))
    unknown = items()
    assert [kind for kind, _ in unknown] == ["missing_here", "missing_here"]
    read(text, ours)
    assert items() == [*unknown, ("returned", payout.amount)]
    record_outcome(payout.id, Outcome.RETURNED, "paid")
    runs.recheck_arrived()
    assert (items(), broken()) == (unknown, {})


def test_a_file_that_is_marked_as_sent_after_its_statement_is_matched_then(
    account: PayoutAccount, ours: OwnBankAccount
) -> None:
    _, [payout] = sent_file(account, 10_000)
    Payout.objects.update(sent_at=None, status="pending")
    PayoutFile.objects.update(sent_at=None)
    read(camt(entry("-100.00", details(payout.id.hex))), ours)
    assert items() == [("missing_here", -10_000)]
    Payout.objects.update(sent_at=SENT, status="in_transit")
    runs.recheck_arrived()
    assert (matched(), items()) == ([-10_000], [])


def test_a_file_twice_is_said_and_changes_nothing(ours: OwnBankAccount) -> None:
    for text in (camt(entry("-5.00")), mt940(), camt(entry("7.00", ref="N"), kind="054")):
        read(text, ours)
        before = (ReconciliationRun.objects.count(), ReportLine.objects.count(), BankStatement.objects.count())
        with pytest.raises(BadReport, match="read before, so nothing was changed"):
            read(text, ours)
        assert before == (ReconciliationRun.objects.count(), ReportLine.objects.count(), BankStatement.objects.count())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (camt(number="000099998888"), "no statement of bpi-payouts, PHP, ending in 4455, but: PHP, ending in 8888"),
        (mt940() + mt940(f25="900022334455"), "several accounts that end in 4455"),
        (mt940(opening="C261125EUR1,", closing="C261125EUR1,"), "but: EUR, ending in 4455"),
        (camt(kind="054"), "no entries"),
        (camt(entry("x")), "line 4, entry 1: "),
        (camt(*[entry("x")] * 1_001, entry("1.00")), "line 4, entry 1: .*; 1,000 more entries cannot be read"),
        ("Date;Amount\n", "neither camt.053, camt.052 or camt.054 nor MT940"),
        ("<html></html>", "must be camt.053"),
    ],
)
def test_what_is_no_statement_of_the_account_is_refused(text: str, message: str, ours: OwnBankAccount) -> None:
    with pytest.raises(BadReport, match=message):
        read(text, ours)
    assert not ReconciliationRun.objects.exists()


def test_a_card_number_in_a_banks_text_is_not_kept(ours: OwnBankAccount) -> None:
    read(camt(entry("-5.00", details("", text="card 4242424242424242"))), ours)
    assert BankLine.objects.get().text == "[card …4242]"

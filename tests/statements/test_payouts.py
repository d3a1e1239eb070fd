"""A statement has a line for each payout, which is a transaction of the balance that the API lists."""

import csv
import io
from collections import Counter
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.payouts import make, states
from payments.domain.statements import statement as statements
from payments.domain.statements.csv_file import statement_lines
from payments.domain.statements.pdf_file import statement_pdf
from payments.domain.statements.statement import Chapter, Owed, Statement, statement_of
from payments.domain.statements.summary import content_of, summary_of
from payments.ids import public_id
from payments.models import Payout, PayoutSchedule, Posting
from payments.rendering.objects.payouts import PAYOUT
from tests.client import Api, made
from tests.disputes.stories import make_dispute
from tests.ledger.books import charge_fees, row_of, settle
from tests.payouts.readings import all_pages
from tests.payouts.stories import days_pass, give_account, give_schedule, paid_out, settled
from tests.plans import scans_of, use_indexes
from tests.statements.test_statements import owed, pdf_texts, total_of

pytestmark = pytest.mark.django_db

KINDS = ("payout", "reserve", "reserve_release", "payout_failed")


def statement(shop: NewMerchant) -> Statement:
    return statement_of(shop.merchant, livemode=False, first=clock.now().date().replace(day=1))


def section(shop: NewMerchant) -> Chapter:
    [only] = statement(shop).sections
    return only


def csv_rows(of: Statement) -> list[dict[str, str]]:
    text = b"".join(statement_lines(of)).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def schedule(shop: NewMerchant) -> PayoutSchedule:
    charge_fees(shop.merchant)
    return give_schedule(shop.merchant, reserve_percent=10, reserve_days=1)


@pytest.fixture
def payouts(api: Api, shop: NewMerchant, schedule: PayoutSchedule) -> list[Payout]:
    """Return a payout that was paid, one that was returned, and one that was cancelled; all reserves are released."""
    made = []
    for number in ("000123456789", "000123450003"):
        give_account(shop.merchant, number)
        settled(api)
        made.append(paid_out(schedule))
    settled(api, amount=5_000)
    made.append(states.cancel(Payout.objects.select_related("account").get(id=make.make_now(schedule.id).id)))
    days_pass(2)
    states.release_reserves()
    return made


def test_the_lines_of_what_a_payout_is_made_of_add_up_whatever_was_settled_twice(
    api: Api, shop: NewMerchant, schedule: PayoutSchedule
) -> None:
    """A refund and a dispute after settlement are settled too, a day later, and are the merchant's only once."""
    give_account(shop.merchant)
    settled(api, amount=50_000)
    refunded, disputed = settled(api), settled(api)
    made(api.post(f"/charges/{refunded['id']}/refund", {"amount": 4_000}))
    make_dispute(row_of(disputed))
    settle()
    days_pass(1)
    payout = make.make_now(schedule.id)
    *lines, paid = [(line.words, line.number, line.amount) for line in content_of(payout)]
    fees = -(50_000 + 2 * 10_000) * 350 // 10_000 - 3 * 15
    assert lines == [
        ("Charges", 3, 70_000),
        ("Refunds", 1, -4_000),
        ("Disputes", 1, -10_000),
        ("Fees", None, fees),
        ("Kept in reserve", None, -payout.reserve),
    ]
    assert paid == ("To the bank account", None, payout.amount)
    assert sum(amount for *_, amount in lines) == payout.amount


@pytest.mark.long
def test_each_payout_has_its_own_lines(shop: NewMerchant, payouts: list[Payout]) -> None:
    lines = Counter[tuple[UUID | None, str]]((row.payout_id, row.kind) for row in section(shop).rows)
    for payout in payouts:
        expected = KINDS if payout.status != Payout.Status.PAID else KINDS[:-1]
        assert {kind for payout_id, kind in lines if payout_id == payout.id} == set(expected)
    assert all(count == 1 for (payout_id, _), count in lines.items() if payout_id)
    assert not [row for row in section(shop).rows if row.kind in KINDS and not row.payout_id]


@pytest.mark.long
def test_the_lines_of_a_payout_are_its_balance_transactions_to_the_cent(
    api: Api, shop: NewMerchant, payouts: list[Payout]
) -> None:
    rows = section(shop).rows
    for payout in payouts:
        listed = all_pages(api, "/balance_transactions/", payout=PAYOUT.render(payout)["id"], balance="available")
        transactions = sorted((each["type"], each["amount"]) for each in listed)
        assert sorted((row.kind, row.change.total) for row in rows if row.payout_id == payout.id) == transactions


@pytest.mark.long
def test_a_statement_with_payouts_adds_up(shop: NewMerchant, payouts: list[Payout]) -> None:
    found = statement(shop)
    [only] = found.sections
    lines = {line.words: line for line in summary_of(only)}
    paid = payouts[0]
    assert lines["Payouts"].amount + lines["Payouts that failed, added back"].amount == -paid.amount
    assert (lines["Payouts"].number, lines["Charges"].number) == (3, 3)
    assert total_of(only) == only.closing.total
    assert sum((row.change for row in only.rows), only.opening) == only.closing == only.rows[-1].after
    assert only.closing.total == owed(shop, found.until) == 2 * (10_000 - 365) + 5_000 - 190 - paid.amount


def test_what_is_kept_in_reserve_is_apart_and_the_ledger_s(
    api: Api, shop: NewMerchant, schedule: PayoutSchedule
) -> None:
    give_account(shop.merchant)
    settled(api)
    payout = paid_out(schedule)
    kept = Posting.objects.filter(merchant=shop.merchant, account="merchant_reserve").aggregate(total=Sum("amount"))
    lines = {line.words: line for line in summary_of(section(shop))}
    assert lines["Apart from it, kept in reserve of payouts"].amount == -kept["total"] == payout.reserve > 0
    assert (lines["Payouts"].number, lines["Charges"].number) == (1, 1)
    assert section(shop).closing == Owed(reserve=payout.reserve)


@pytest.mark.long
def test_the_files_name_each_payout(shop: NewMerchant, payouts: list[Payout]) -> None:
    found = statement(shop)
    texts = pdf_texts(statement_pdf(found))
    opening, *moved, closing = csv_rows(found)
    for payout in payouts:
        name = public_id("po", payout.id)
        assert f"Paid out {name}" in texts
        [line] = [row for row in moved if (row["movement"], row["payout_id"]) == ("Paid out", name)]
        assert int(line["available_minor"]) == -payout.amount
    change = sum(int(row["pending_minor"]) + int(row["available_minor"]) for row in moved)
    assert int(opening["balance_minor"]) + change == int(closing["balance_minor"])


@pytest.mark.long
def test_a_statement_has_a_bounded_number_of_lines_and_days_beyond_it_are_summed(
    shop: NewMerchant, payouts: list[Payout], monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = section(shop)
    monkeypatch.setattr(statements, "LINES_MAX", 3)
    short = section(shop)
    assert not [row for row in short.rows if row.kind == "payout" and row.payout_id]
    [summed] = [row for row in short.rows if row.kind == "payout"]
    assert (summed.words, summed.change.total) == ("Paid out", -sum(payout.amount for payout in payouts))
    assert (short.closing, summary_of(short)) == (everything.closing, summary_of(everything))


def test_the_lines_are_found_by_their_index(shop: NewMerchant, payouts: list[Payout]) -> None:
    use_indexes()
    with CaptureQueriesContext(connection) as taken:
        statements.payout_lines(shop.merchant.id, False, clock.now().replace(day=1), clock.now())
    query, of_leaves = taken.captured_queries
    assert "payments_logleaf" in of_leaves["sql"]
    assert {scan.get("Index Name") for scan in scans_of(query["sql"])} == {"posting_paid_out"}

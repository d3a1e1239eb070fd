"""A statement's opening balance and movements are its closing balance, which is the ledger's, month after month."""

import csv
import io
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from pypdf import PdfReader

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.statements.csv_file import statement_lines
from payments.domain.statements.pdf_file import statement_pdf
from payments.domain.statements.statement import (
    ACCOUNTS,
    BadMonth,
    Chapter,
    DoesNotAddUp,
    Owed,
    Statement,
    month_of,
    next_month,
    statement_of,
)
from payments.domain.statements.summary import summary_of
from payments.domain.statements.trial_balance import trial_balance
from payments.ledger.account_days import midnight, sum_up_due
from payments.ledger.running_balances import AccountOf, days_of, page_of
from payments.ledger.sums import Moves, Scope, moves
from payments.models import AccountDay, LogHead, Posting
from payments.money import MINUS, major_units, plain_amount
from tests.ledger.books import charge_fees
from tests.ledger.test_account_days import histories, make_history
from tests.overview.past_charges import days_ago, make_past_charge

TEXT = re.compile(rb"\((.*?)(?<!\\)\) Tj")


def months() -> list[date]:
    """Return the first days of the last three months, oldest first."""
    this = clock.now().date().replace(day=1)
    last = (this - timedelta(days=1)).replace(day=1)
    return [(last - timedelta(days=1)).replace(day=1), last, this]


def owed(shop: NewMerchant, until: datetime) -> int:
    """Return what the postings themselves say that we owe the shop."""
    rows = Posting.objects.filter(merchant=shop.merchant, account__in=ACCOUNTS, created_at__lt=until)
    return -(rows.aggregate(total=Sum("amount"))["total"] or 0)


def total_of(section: Chapter) -> int:
    """Return the sum of the summary's lines up to the closing balance, which it must be."""
    lines = summary_of(section)
    end = lines.index(next(line for line in lines if line.words == "Closing balance"))
    assert lines[end].amount == section.closing.total
    return sum(line.amount for line in lines[:end])


def statements(shop: NewMerchant) -> list[Statement]:
    return [statement_of(shop.merchant, livemode=False, first=first) for first in months()]


@pytest.mark.long
@pytest.mark.django_db
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories)
def test_statements_of_any_history_add_up_and_chain(shop: NewMerchant, history: list) -> None:
    charge_fees(shop.merchant)
    with transaction.atomic():
        make_history(shop, history)
        for _ in range(2):
            before = Owed()
            for statement in statements(shop):
                for section in statement.sections:
                    assert section.opening == before
                    changes = sum((row.change for row in section.rows), section.opening)
                    assert changes == section.closing == (section.rows[-1].after if section.rows else before)
                    assert total_of(section) == section.closing.total
                    before = section.closing
                assert before.total == owed(shop, statement.until)
            sum_up_due(limit=200)
        transaction.set_rollback(True)


@pytest.fixture
def history(shop: NewMerchant) -> None:
    charge_fees(shop.merchant)
    make_history(
        shop,
        [
            (40, 123_456, False, [("refund 100", 5), ("settle", 24)]),
            (35, 500, True, [("capture 400", 3)]),
            (34, 700, False, [("void", 2)]),
        ],
    )
    sum_up_due(limit=100)


def whole_text(content: bytes) -> str:
    return "".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def pdf_texts(content: bytes) -> list[str]:
    """Return the texts of a PDF, in the order in which they are drawn; what is in fonts of ours cannot be read so."""
    pages = [page.get_contents().get_data() for page in PdfReader(io.BytesIO(content)).pages]
    return [text.decode("cp1252", "replace") for page in pages for text in TEXT.findall(page)]


def test_the_pdf_has_the_amounts_of_the_statement(shop: NewMerchant, history: None) -> None:
    for statement in statements(shop):
        texts = pdf_texts(statement_pdf(statement))
        for section in statement.sections:
            for row in section.rows:
                at = texts.index(row.words, texts.index(f"{row.day.day} {row.day:%b}"))
                changed = [amount for amount in (row.change.pending, row.change.available) if amount]
                shown = [plain_amount(amount, "PHP").replace(MINUS, "-") for amount in (*changed, row.after.total)]
                assert shown == texts[at + 1 : at + 1 + len(shown)], row
            assert texts.count("Closing balance") == 1 + bool(section.rows)
        assert any("UTC" in text for text in texts)


def test_the_csv_adds_up(shop: NewMerchant, history: None) -> None:
    for statement in statements(shop):
        text = b"".join(statement_lines(statement)).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text)))
        if not rows:
            continue
        opening, *moved, closing = rows
        change = sum(int(row["pending_minor"]) + int(row["available_minor"]) for row in moved)
        assert int(opening["balance_minor"]) + change == int(closing["balance_minor"]) == owed(shop, statement.until)
        assert all(row["balance"] == f"{major_units(int(row['balance_minor']), 'PHP'):f}" for row in rows)


def test_a_long_statement_has_its_heads_on_every_page(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, days_ago(70))
    sum_up_due(limit=100)
    first = months()[1]
    kinds = ("capture", "fee", "refund", "settle")
    sums = {"livemode": False, "currency": "PHP", "account": "merchant_pending", "debits": 5, "credits": 7}
    AccountDay.objects.bulk_create(
        AccountDay(merchant=shop.merchant, day=first + timedelta(days=number), kind=kind, postings=2, **sums)
        for number in range(28)
        for kind in kinds
    )
    content = statement_pdf(statement_of(shop.merchant, livemode=False, first=first))
    assert re.findall("[0-9] of [0-9]", whole_text(content)) == ["1 of 3", "2 of 3", "3 of 3"]
    texts = pdf_texts(content)
    assert texts.count("Movement") == 3
    assert texts.count("0.02") >= 28 * len(kinds)


def test_a_statement_that_does_not_add_up_is_refused(
    shop: NewMerchant, history: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(scope: Scope, since: datetime, until: datetime) -> Moves:
        found = moves(scope, since, until)
        return found._replace(within=found.within[1:])

    monkeypatch.setitem(statement_of.__globals__, "moves", short)
    with pytest.raises(DoesNotAddUp):
        statements(shop)


@pytest.mark.usefixtures("noon")
def test_a_charge_between_two_reads_of_a_statement_is_in_none_or_in_all(shop: NewMerchant, history: None) -> None:
    """One is made before the statement's end, and committed after each read of the ledger."""
    charged = []

    def charge(execute: Callable[..., object], sql: str, *rest: object) -> object:
        answer = execute(sql, *rest)
        if "payments_accountday" in sql:
            charged.append(make_past_charge(shop.merchant, clock.now() - timedelta(seconds=1)))
        return answer

    with connection.execute_wrapper(charge):
        [section] = statement_of(shop.merchant, False, months()[-1]).sections
    assert charged
    assert sum((row.change for row in section.rows), section.opening) == section.closing


@pytest.mark.parametrize("text", ["", "2026", "2026-13", "november", "1990-01", "2999-01"])
def test_only_months_that_have_begun_have_a_statement(text: str) -> None:
    with pytest.raises(BadMonth):
        month_of(text)


def test_a_statement_ends_on_the_last_day_of_its_month(shop: NewMerchant) -> None:
    assert statement_of(shop.merchant, livemode=False, first=date(2024, 2, 1)).last == date(2024, 2, 29)


@pytest.mark.usefixtures("noon")
def test_a_month_in_progress_is_provisional_and_one_that_is_over_is_final(shop: NewMerchant, history: None) -> None:
    assert [statement.is_final for statement in statements(shop)] == [True, True, False]
    assert next_month(date(2026, 12, 1)) == date(2027, 1, 1)


def test_a_trial_balance_is_the_postings_at_its_moment(shop: NewMerchant, history: None) -> None:
    for ago in (0, 34.3, 36, 39, 50):
        moment = clock.now() - timedelta(days=ago)
        trial = trial_balance(moment)
        rows = Posting.objects.filter(created_at__lt=moment).values("account").annotate(total=Sum("amount"))
        expected = {row["account"]: row["total"] for row in rows if row["total"]}
        assert {line.account: line.balance for book in trial.books for line in book.lines if line.balance} == expected
        assert trial.balances
    assert trial_balance(clock.now(), []).books == []


def test_running_balances_follow_every_posting(shop: NewMerchant, history: None) -> None:
    account = AccountOf(shop.merchant.pk, False, "PHP", "merchant_pending")
    rows = list(Posting.objects.filter(account="merchant_pending").order_by("id"))
    balance, found = 0, []
    for day in sorted({row.created_at.date() for row in rows}):
        after, first = None, True
        while first or after:
            page = page_of(account, day, after, length=1)
            found += [(posting.pk, shown) for posting, shown in page.rows]
            after, first = page.more_after, False
        assert found[-1][1] == account.balance(midnight(day + timedelta(days=1)))
    expected = [(row.pk, balance := balance + row.amount) for row in rows]
    assert found == expected
    for first in months():
        days = days_of(account, first, midnight(next_month(first)))
        assert days.closing == account.balance(midnight(next_month(first)))


def test_the_head_of_a_statement_is_the_one_at_its_address(shop: NewMerchant) -> None:
    """Of more heads of one size, the address shows the first."""
    first, _ = (LogHead.objects.create(size=7, note=note) for note in ("first", "second"))
    [*_, over, under_way] = months()
    assert statement_of(shop.merchant, False, over).head == first
    # Nothing is signed of what is to come.
    assert statement_of(shop.merchant, False, under_way).head is None

"""Statements and trial balances as CSV: integers in the smallest unit beside decimal amounts."""

from collections.abc import Iterator, Sequence
from datetime import date

from payments.clock import iso
from payments.domain.statements.statement import Owed, Statement
from payments.domain.statements.trial_balance import TrialBalance
from payments.ids import public_id
from payments.money import major_units
from payments.rendering.csv import csv_lines

STATEMENT_HEADS = (
    *("merchant", "merchant_id", "mode", "currency", "day_utc", "movement", "payout_id", "leaf"),
    *("pending", "available", "balance", "pending_minor", "available_minor", "balance_minor", "made_at", "final"),
)
TRIAL_HEADS = ("at", "mode", "currency", "account", "memo", "debit", "credit", "debit_minor", "credit_minor")


def statement_lines(statement: Statement) -> Iterator[bytes]:
    """Yield the lines of a statement: for each currency the opening balance, every movement, and the closing balance.

    A movement of one payout has its ID, and its leaf in the transparency log.

    Of a movement, pending and available are what it changed, and balance is what we owe after it.
    """
    return csv_lines(STATEMENT_HEADS, _statement_rows(statement))


def trial_lines(trial: TrialBalance) -> Iterator[bytes]:
    """Yield the lines of a trial balance, with the sums of each mode and currency."""
    return csv_lines(TRIAL_HEADS, _trial_rows(trial))


def _statement_rows(statement: Statement) -> Iterator[Sequence[object]]:
    merchant = statement.merchant
    head = (merchant.title, public_id("mer", merchant.pk), statement.mode)
    for section in statement.sections:
        last: Sequence[object] = (iso(statement.made_at), "yes" if statement.is_final else "no")
        rows: list[tuple[date, str, str, int | None, Owed, Owed]] = [
            (statement.first, "Opening balance", "", None, section.opening, section.opening)
        ]
        rows += [(row.day, row.kind_words, row.payout, row.leaf, row.change, row.after) for row in section.rows]
        rows += [(statement.last, "Closing balance", "", None, section.closing, section.closing)]
        for day, words, payout, leaf, change, after in rows:
            amounts = (change.pending, change.available, after.total)
            decimals = (major_units(amount, section.currency) for amount in amounts)
            yield *head, section.currency, day, words, payout, leaf, *decimals, *amounts, *last


def _trial_rows(trial: TrialBalance) -> Iterator[Sequence[object]]:
    moment = iso(trial.at)
    for book in trial.books:
        rows = [(line.account, "yes" if line.is_memo else "no", line.debit, line.credit) for line in book.lines]
        rows += [("total", "no", book.debit, book.credit)]
        for account, memo, debit, credit in rows:
            decimals = (major_units(debit, book.currency), major_units(credit, book.currency))
            yield moment, book.mode, book.currency, account, memo, *decimals, debit, credit

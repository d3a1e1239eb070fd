"""Accounts of the ledger: balances now, after each day of a month, and after each posting of a day."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from payments import clock
from payments.admin.framework.formats import about_link, link, money
from payments.admin.shown_times import moment_cell
from payments.admin.statements.of_merchant import OfMerchant, asked_month, mode_name, month_before
from payments.domain.statements.statement import next_month
from payments.domain.statements.trial_balance import trial_balance
from payments.ledger.account_days import midnight
from payments.ledger.running_balances import AccountOf, days_of, page_of
from payments.models import Account, Posting
from payments.money import KNOWN_CURRENCIES
from payments.typed_text import read_day

ONE = "<uuid:pk>/<str:mode>/<str:currency>/<str:account>/"


@admin.register(Account)
class AccountAdmin(OfMerchant):
    views = {"payments_account_month": (ONE, "month"), "payments_account_day": (f"{ONE}<str:day>/", "day")}

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        """Show the balances of all accounts of a merchant now."""
        merchant = self.merchant_of(request, object_id)
        trial = trial_balance(clock.now(), [merchant.pk])
        books = [
            (
                book,
                [
                    (
                        reverse(
                            "admin:payments_account_month", args=[merchant.pk, book.mode, book.currency, line.account]
                        ),
                        f"{line.words}{', memo' * line.is_memo}",
                        _balance(line.balance, book.currency),
                    )
                    for line in book.lines
                ],
            )
            for book in trial.books
        ]
        context = {"merchant": merchant, "trial": trial, "books": books}
        return self.page(request, "accounts", f"{merchant.title}: accounts", **context)

    def month(self, request: HttpRequest, pk: UUID, **names: str) -> HttpResponse:
        """Show the balance of an account after each day of a month on which it moved."""
        merchant, account = self._account(request, pk, **names)
        first, refusal = asked_month(request)
        until = min(midnight(next_month(first)), clock.now())
        days = days_of(account, first, until)
        context = {
            "merchant": merchant,
            "account": account,
            "opening": _balance(days.opening, account.currency),
            "rows": [
                (
                    reverse("admin:payments_account_day", args=[pk, *names.values(), row.key[0]]),
                    row,
                    [money(amount, account.currency) if amount else "" for amount in (row.debits, row.credits)],
                    _balance(balance, account.currency),
                )
                for row, balance in days.rows
            ],
            "closing": _balance(days.closing, account.currency),
            "month": f"{first:%Y-%m}",
            "before": f"{month_before(first):%Y-%m}",
            "after": f"{next_month(first):%Y-%m}" if next_month(first) <= clock.now().date() else "",
            "refusal": refusal,
        }
        return self.page(request, "account_month", f"{_title(account)}, {first:%B %Y}", **context)

    def day(self, request: HttpRequest, pk: UUID, day: str, **names: str) -> HttpResponse:
        """Show the postings of an account on a day, oldest first, with the balance after each."""
        merchant, account = self._account(request, pk, **names)
        shown_day, after = _day(day), _after(request)
        page = page_of(account, shown_day, after)
        context = {
            "merchant": merchant,
            "account": account,
            "day": shown_day,
            "month": f"{shown_day:%Y-%m}",
            "month_address": reverse("admin:payments_account_month", args=[pk, *names.values()]),
            "opening": None if after else _balance(page.opening, account.currency),
            "rows": [_posting(posting, balance) for posting, balance in page.rows],
            "more_after": page.more_after,
            "is_first": after is None,
        }
        return self.page(request, "account_day", f"{_title(account)}, {shown_day:%d %b %Y}", **context)

    def _account(self, request: HttpRequest, pk: UUID, mode: str, currency: str, account: str) -> tuple[Any, AccountOf]:
        """Return the merchant and the account of an address."""
        merchant = self.merchant_of(request, str(pk))
        if mode not in ("live", "test") or currency not in KNOWN_CURRENCIES or account not in Posting.Account.values:
            raise Http404
        return merchant, AccountOf(pk, mode == "live", currency, account)


def _posting(posting: Posting, balance: int) -> tuple[object, ...]:
    debit, credit = _sides(posting.amount, posting.currency)
    return (
        link(Posting, posting.pk, moment_cell(posting.created_at)),
        posting.get_kind_display(),
        about_link(posting),
        (debit, credit),
        _balance(balance, posting.currency),
    )


def _title(account: AccountOf) -> str:
    words = Posting.Account(account.account).label.capitalize()
    return f"{words}, {mode_name(account.livemode)} {account.currency}"


def _sides(amount: int, currency: str) -> tuple[str, str]:
    """Return an amount as a debit and as a credit, one of them empty."""
    return (money(amount, currency) if amount > 0 else "", money(-amount, currency) if amount < 0 else "")


def _balance(amount: int, currency: str) -> tuple[str, str]:
    """Return a balance on its side; one of zero is written too."""
    return _sides(amount, currency) if amount else (money(0, currency), "")


def _day(text: str) -> date:
    try:
        day = read_day(text)
    except ValueError:
        raise Http404 from None
    if not date(2000, 1, 1) <= day <= clock.now().date() + timedelta(days=1):
        raise Http404
    return day


def _after(request: HttpRequest) -> UUID | None:
    try:
        return UUID(request.GET["after"]) if "after" in request.GET else None
    except ValueError:
        raise Http404 from None

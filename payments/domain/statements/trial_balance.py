"""Trial balances: the balance of every account at a moment, by mode and currency, and whether debits equal credits."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from payments.ledger.sums import Scope, is_final, sums
from payments.models import Posting

# They balance by themselves, and are no money.
MEMO = (Posting.Account.PROVIDER_HOLD, Posting.Account.MERCHANT_HOLD)


@dataclass(frozen=True)
class AccountLine:
    """The balance of one account, on one of its two sides."""

    account: str
    balance: int

    @property
    def words(self) -> str:
        return Posting.Account(self.account).label.capitalize()

    @property
    def is_memo(self) -> bool:
        return self.account in MEMO

    @property
    def debit(self) -> int:
        return max(self.balance, 0)

    @property
    def credit(self) -> int:
        return max(-self.balance, 0)


@dataclass(frozen=True)
class Book:
    """All accounts of one mode and currency, memo accounts last."""

    livemode: bool
    currency: str
    lines: Sequence[AccountLine]

    @property
    def mode(self) -> str:
        return "live" if self.livemode else "test"

    @property
    def debit(self) -> int:
        """Return the sum of the debit balances, without memo accounts."""
        return sum(line.debit for line in self.lines if not line.is_memo)

    @property
    def credit(self) -> int:
        return sum(line.credit for line in self.lines if not line.is_memo)

    @property
    def balances(self) -> bool:
        """Return whether debits equal credits, and those of the memo accounts too."""
        return self.debit == self.credit and not sum(line.balance for line in self.lines if line.is_memo)


@dataclass(frozen=True)
class TrialBalance:
    """The balances just before the moment `at`; `is_final` says that nothing can be added before it any more."""

    at: datetime
    books: Sequence[Book]
    is_final: bool

    @property
    def balances(self) -> bool:
        return all(book.balances for book in self.books)


def trial_balance(at: datetime, merchants: Collection[UUID] | None = None) -> TrialBalance:
    """Return the trial balance of `merchants` (None: of all) just before `at`."""
    rows = sums(Scope(merchants), ("livemode", "currency", "account"), at)
    books = [
        Book(livemode, currency, _lines({row.key[2]: row.balance for row in found}))
        for (livemode, currency), found in groupby(rows, key=lambda row: row.key[:2])
    ]
    return TrialBalance(at, sorted(books, key=lambda book: (not book.livemode, book.currency)), is_final(at))


def _lines(balances: dict[str, int]) -> list[AccountLine]:
    accounts = [*(account for account in Posting.Account if account not in MEMO), *MEMO]
    return [AccountLine(account, balances[account]) for account in accounts if account in balances]

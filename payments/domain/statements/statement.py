"""Statement of a merchant for a month (UTC): what we owe them at its start, what moved each day, and at its end.

A day has one row for each kind of movement, but one for each payout.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from payments import clock
from payments.domain.transparency.proofs import leaves_of_journals
from payments.ids import public_id, short_reference
from payments.ledger.account_days import bounds, midnight
from payments.ledger.sums import Scope, Sum, is_final, moves
from payments.ledger.transparency.heads import head_of, newest_head
from payments.models import LogHead, Merchant, Posting
from payments.names import UNSEEN

Account, Kind = Posting.Account, Posting.Kind
# What we owe the merchant: before settlement, after it, and what is kept of payouts.
ACCOUNTS: Mapping[str, str] = {
    Account.MERCHANT_PENDING: "pending",
    Account.MERCHANT_PAYABLE: "available",
    Account.MERCHANT_RESERVE: "reserve",
}
# In the order of a day's rows.
WORDS: Mapping[str, str] = {
    Kind.CAPTURE: "Captured",
    Kind.FEE: "Fees",
    Kind.VOID: "Voided, with fees returned",
    Kind.REFUND: "Refunded",
    Kind.REFUND_FAILED: "Refunds that failed, added back",
    Kind.DISPUTE: "Disputed, taken by the payer's bank",
    Kind.DISPUTE_WON: "Disputes won, given back",
    Kind.DISPUTE_FEE: "Fees of disputes, less those given back",
    Kind.SETTLE: "Settled: from pending to available",
    Kind.PAYOUT: "Paid out",
    Kind.RESERVE: "Reserved of payouts",
    Kind.RESERVE_RELEASE: "Reserves released",
    Kind.PAYOUT_FAILED: "Payouts that failed, added back",
    Kind.PAYOUT_LATE: "Payouts that were paid after they had failed",
}
ORDER = list(WORDS)
# Controls, marks that turn the direction of a text, and what a system refuses in the name of a file.
NOT_IN_FILE_NAMES = re.compile(rf'[{UNSEEN}\\/:*?"<>|]')
# In few words, because the payout's ID follows.
LINE_WORDS: dict[str, str] = {
    Kind.PAYOUT: "Paid out",
    Kind.RESERVE: "Reserved",
    Kind.RESERVE_RELEASE: "Released",
    Kind.PAYOUT_FAILED: "Came back",
    Kind.PAYOUT_LATE: "Paid out late",
}
# Of one statement. A merchant with daily payouts in ten currencies has half of it.
LINES_MAX = 2_000
RESERVES = (Kind.RESERVE, Kind.RESERVE_RELEASE)


class PayoutLine(NamedTuple):
    """One posting of a payout: what the merchant got, negative where it was paid out."""

    currency: str
    day: date
    kind: str
    payout_id: UUID
    amount: int
    leaf: int | None


def payout_lines(merchant_id: UUID, livemode: bool, since: datetime, until: datetime) -> list[PayoutLine]:
    """Return the first LINES_MAX lines from `since` to before `until`, the oldest first."""
    times = bounds(since, until)
    found = Posting.objects.of(merchant_id, livemode).filter(
        account=Posting.Account.MERCHANT_PAYABLE,
        payout__isnull=False,
        id__gte=times["first_id"],
        id__lt=times["next_id"],
        created_at__gte=since,
        created_at__lt=until,
    )
    columns = ("currency", "created_at", "kind", "payout_id", "amount", "journal")
    rows = list(found.order_by("id").values_list(*columns)[:LINES_MAX])
    leaves = leaves_of_journals(merchant_id, livemode, {journal for *_, journal in rows})
    return [
        PayoutLine(currency, moment.date(), kind, payout_id, -amount, leaves.get(journal))
        for currency, moment, kind, payout_id, amount, journal in rows
    ]


class BadMonth(Exception):
    """A month that has not begun, or none at all; the message is for the operator."""


class DoesNotAddUp(Exception):
    """Opening balance and movements are not the ledger's closing balance: a fault in the daily sums."""


@dataclass(frozen=True)
class Owed:
    """What we owe a merchant in one currency, in its smallest unit; negative where they owe us."""

    pending: int = 0
    available: int = 0
    reserve: int = 0

    @property
    def total(self) -> int:
        """Return the balance, without what is kept in reserve of payouts."""
        return self.pending + self.available

    def __add__(self, other: "Owed") -> "Owed":
        return Owed(self.pending + other.pending, self.available + other.available, self.reserve + other.reserve)


@dataclass(frozen=True)
class Row:
    """One kind of movement on one day, or of one payout, and what we owe after it."""

    day: date
    kind: str
    change: Owed
    after: Owed
    payout_id: UUID | None = None
    # Of the movement of a payout in the transparency log.
    leaf: int | None = None

    @property
    def words(self) -> str:
        if self.payout_id:
            leaf = "" if self.leaf is None else f", leaf {self.leaf}"
            return f"{LINE_WORDS[self.kind]} {self.payout}{leaf}"
        return self.kind_words

    @property
    def kind_words(self) -> str:
        return WORDS.get(self.kind, self.kind.replace("_", " ").capitalize())

    @property
    def payout(self) -> str:
        """Return the public ID of the payout, empty where there is none."""
        return public_id("po", self.payout_id) if self.payout_id else ""


@dataclass(frozen=True)
class Chapter:
    """The part of a statement in one currency: `closing` is `opening` and every row's change.

    `counts` has the number of postings of each kind.
    """

    currency: str
    opening: Owed
    rows: Sequence[Row]
    closing: Owed
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Statement:
    """A merchant's statement for the month of `first`. It ends at `until`: the month's end, or now if that is earlier.

    `is_final` says that nothing can be added to it any more.
    """

    merchant: Merchant
    livemode: bool
    first: date
    until: datetime
    is_final: bool
    sections: Sequence[Chapter]
    made_at: datetime = field(default_factory=clock.now)
    # The first signed head of the transparency log's size when it was made.
    head: LogHead | None = None

    @property
    def last(self) -> date:
        return (self.until - timedelta(microseconds=1)).date()

    @property
    def period(self) -> str:
        return f"{self.first.day} to {self.last.day} {self.last:%B %Y}"

    @property
    def mode(self) -> str:
        return "live" if self.livemode else "test"

    @property
    def number(self) -> str:
        """Return the number by which it is asked for: month, end of the merchant's ID, and mode unless that is live."""
        reference = short_reference(self.merchant.pk).replace(" ", "")
        return f"{self.first:%Y-%m}-{reference}{'' if self.livemode else '-TEST'}"

    @property
    def name(self) -> str:
        """Return its name in words, which is that of its files too."""
        return name_of(self.merchant, self.livemode, self.first)


def name_of(merchant: Merchant, livemode: bool, first: date) -> str:
    """Return the name of the statement for the month of `first`: one line, without what no file name may have."""
    title = " ".join(NOT_IN_FILE_NAMES.sub(" ", merchant.title).split())
    return f"Statement of {title}, {first:%B %Y}{'' if livemode else ', test mode'}"


def month_of(text: str) -> date:
    """Return the first day of a month such as `2026-11`; raise BadMonth unless it has begun (UTC)."""
    try:
        first = datetime.strptime(text, "%Y-%m").date()  # noqa: DTZ007  months are those of UTC
    except ValueError:
        raise BadMonth("Write a month such as 2026-11.") from None
    if not date(2000, 1, 1) <= first <= clock.now().date():
        raise BadMonth("The month has not begun yet (UTC)." if first.year >= 2000 else "Nothing was posted then.")
    return first


def next_month(first: date) -> date:
    """Return the first day of the month after that of `first`."""
    return (first.replace(day=1) + timedelta(days=32)).replace(day=1)


def statement_of(merchant: Merchant, livemode: bool, first: date) -> Statement:
    """Return the merchant's statement for the month that begins on `first`.

    Raises DoesNotAddUp unless each closing balance is the ledger's at that moment.
    """
    until = min(midnight(next_month(first)), clock.now())
    scope = Scope([merchant.pk], livemode, accounts=ACCOUNTS)
    final = is_final(midnight(next_month(first)))
    found = moves(scope, midnight(first), until)
    before, ledger = _by_currency(found.before), _by_currency(found.after)
    rows = {currency: list(of) for currency, of in groupby(found.within, key=lambda row: row.key[0])}
    lines = payout_lines(merchant.pk, livemode, midnight(first), until)
    sections = [
        _section(
            currency,
            before.get(currency, Owed()),
            rows.get(currency, []),
            [line for line in lines if line.currency == currency],
        )
        for currency in sorted({*before, *rows})
    ]
    if any(section.closing != ledger.get(section.currency, Owed()) for section in sections):
        raise DoesNotAddUp
    newest = newest_head()
    # The one that its address shows, where there are more of this size. One signed before the end covers not all of it.
    head = head_of(newest.size) if newest and newest.signed_at >= until else None
    return Statement(merchant, livemode, first, until, final, sections, head=head)


def _section(currency: str, opening: Owed, moved: Iterable[Sum], lines: Iterable[PayoutLine]) -> Chapter:
    changes: dict[tuple[date, str], Owed] = defaultdict(Owed)
    counts: dict[str, int] = defaultdict(int)
    for row in moved:
        _, day, kind, account = row.key
        changes[day, kind] += _owed(account, row)
        counts[kind] += row.postings if account != Account.MERCHANT_RESERVE else 0
    of_payouts: dict[tuple[date, str], list[PayoutLine]] = defaultdict(list)
    for line in lines:
        of_payouts[line.day, line.kind].append(line)
    rows, after = [], opening
    for day, kind in sorted(changes, key=lambda change: (change[0], _place(change[1]))):
        for payout_id, leaf, change in _split(changes[day, kind], of_payouts[day, kind]):
            after += change
            rows.append(Row(day, kind, change, after, payout_id, leaf))
    return Chapter(currency, opening, rows, after, counts)


def _split(change: Owed, lines: Sequence[PayoutLine]) -> list[tuple[UUID | None, int | None, Owed]]:
    """Return a day's change payout by payout; whole where these are not all of its lines."""
    found: list[tuple[UUID | None, int | None, Owed]] = [
        (line.payout_id, line.leaf, Owed(available=line.amount, reserve=-line.amount if line.kind in RESERVES else 0))
        for line in lines
    ]
    if found and change == sum((part for *_, part in found), Owed()):
        return found
    return [(None, None, change)]


def _by_currency(rows: Iterable[Sum]) -> dict[str, Owed]:
    found: dict[str, Owed] = defaultdict(Owed)
    for row in rows:
        currency, account = row.key
        found[currency] += _owed(account, row)
    return found


def _owed(account: str, row: Sum) -> Owed:
    """Return what a sum adds to our debt: a debt is a credit, so it is negative in the ledger."""
    return Owed(**{ACCOUNTS[account]: -row.balance})


def _place(kind: str) -> tuple[int, str]:
    return (ORDER.index(kind) if kind in WORDS else len(ORDER)), kind

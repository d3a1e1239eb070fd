"""Adyen's settlement details report, as its documentation describes it: contract-tested, not run against the provider.

Each row is a journal entry of a batch that was paid out, with its amount in the payment's own currency as a debit or a
credit. A modification reference names our capture, refund or reversal; the payment itself names one captured at once.
"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.cells import Row
from payments.providers.settlement_reports import Movement, SettlementLine

TYPE, DATE, ZONE = "Type", "Creation Date", "TimeZone"
# Ours and theirs, of what was done to the payment and of the payment itself.
OURS = ("Modification Merchant Reference", "Merchant Reference")
THEIRS = ("Modification Reference", "Psp Reference")
# Currency, debit and credit: gross in the payment's currency, net in that of the payout.
GROSS = ("Gross Currency", "Gross Debit (GC)", "Gross Credit (GC)")
NET = ("Net Currency", "Net Debit (NC)", "Net Credit (NC)")
KINDS = {
    "Settled": Movement.CAPTURE,
    "Refunded": Movement.REFUND,
    "RefundedReversed": Movement.REFUND_RETURNED,
    "Chargeback": Movement.DISPUTE,
    "SecondChargeback": Movement.DISPUTE,
    "ChargebackReversed": Movement.DISPUTE_WON,
}
# Fees, reserves and payouts of the account, which belong to no payment.
OF_THE_ACCOUNT = frozenset(
    ["Fee", "MiscCosts", "PaymentCost", "MerchantPayout", "DepositCorrection", "InvoiceDeduction", "Balancetransfer"]
)
# The names of time zones that are unambiguous.
UTC_OFFSETS = {"UTC": 0, "GMT": 0, "BST": 1, "CET": 1, "CEST": 2, "SGT": 8, "HKT": 8, "PHT": 8}
FORMAT = "%Y-%m-%d %H:%M:%S"


class SettlementDetails:
    """The layout. A batch lists only what was paid out in it, so the report covers no period."""

    provider, title = "adyen", "settlement details report"
    names = (TYPE, DATE, ZONE, *OURS, *THEIRS, *GROSS, *NET)
    zone: tzinfo = UTC
    covers_days = False

    def line(self, row: Row) -> SettlementLine | None:
        word = row.read(TYPE, cells.read_word)
        if word in OF_THE_ACCOUNT:
            return None
        currency, amount = _amount(row)
        role, reference = _named(row.first_of(OURS))
        zone = row.read(ZONE, _zone)
        return SettlementLine(
            reference=reference,
            provider_ref=row.first_of(THEIRS) or ("" if reference else word),
            kind=_kind(word, role, amount),
            amount=amount,
            currency=currency,
            booked_at=row.read(DATE, lambda text: _moment(text, zone)),
            word=word,
        )


def _kind(word: str, role: str, amount: int) -> Movement:
    """Return the movement, or OTHER instead of a guess. A refund for our void is a void."""
    kind = KINDS.get(word, Movement.OTHER)
    if (kind, role) == (Movement.REFUND, "void"):
        kind = Movement.VOID
    return kind if kind.sign * amount > 0 else Movement.OTHER


def _named(name: str) -> tuple[str, str]:
    """Return the kind of our operation, empty for a payment, and its reference."""
    role, _, reference = name.rpartition("-")
    return (role, reference) if role in ("capture", "refund", "void") else ("", name)


def _amount(row: Row) -> tuple[str, int]:
    """Return the currency and the signed amount: a credit is positive."""
    currency_name, *sides = GROSS if any(row.cells[name] for name in GROSS[1:]) else NET
    currency = row.read(currency_name, cells.read_currency)
    debit, credit = (row.cells[name] for name in sides)
    if bool(debit) == bool(credit):
        raise ValueError(f", column {sides[0]}: must be there, or {sides[1]} must, and not both")
    side, sign = (sides[0], -1) if debit else (sides[1], 1)
    return currency, sign * row.read(side, lambda text: cells.read_amount(text, currency))


def _zone(text: str) -> timezone:
    if text not in UTC_OFFSETS:
        raise ValueError(f"must be one of {', '.join(UTC_OFFSETS)}; set the report's time zone to UTC at Adyen")
    return timezone(timedelta(hours=UTC_OFFSETS[text]))


def _moment(text: str, zone: tzinfo) -> datetime:
    try:
        return datetime.strptime(text, FORMAT).replace(tzinfo=zone)
    except ValueError:
        raise ValueError("must be a time such as 2026-11-21 13:30:59") from None

"""Adyen's settlement details report, as its documentation describes it: contract-tested, not run against the provider.

Each row is a journal entry of a batch that was paid out, with its amount in the payment's own currency as a debit or a
credit. The modification has our name only where we asked for it: Adyen calls a capture of its own `<auto>`, and staff
who refund there write what they like. The payment's own name is in every row of it.
"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.cells import ReportRow
from payments.providers.adyen import bodies
from payments.providers.references import REFERENCE
from payments.providers.settlement_reports import Movement, SettlementLine

TYPE, DATE, ZONE = "Type", "Creation Date", "TimeZone"
# Our names and theirs, of what was done to the payment and of the payment itself.
OUR_OPERATION, OUR_PAYMENT = ("Modification Merchant Reference", "Merchant Reference")
THEIRS = ("Modification Reference", "Psp Reference")
# Currency, debit and credit: gross in the payment's currency, net in that of the payout.
GROSS = ("Gross Currency", "Gross Debit (GC)", "Gross Credit (GC)")
NET = ("Net Currency", "Net Debit (NC)", "Net Credit (NC)")
ROLES = (bodies.TAKEN, bodies.RETURNED, bodies.RELEASED)
KINDS = {
    "Settled": Movement.CAPTURE,
    "Refunded": Movement.REFUND,
    "RefundedReversed": Movement.REFUND_RETURNED,
    "Chargeback": Movement.DISPUTE,
    "SecondChargeback": Movement.DISPUTE,
    "ChargebackReversed": Movement.DISPUTE_WON,
    "MerchantPayout": Movement.PAYOUT,
}
OF_REFUNDS = frozenset([Movement.REFUND, Movement.REFUND_RETURNED])
# Fees, reserves, other payouts and transfers of the account, which belong to no payment.
OF_THE_ACCOUNT = frozenset(
    [
        *("Fee", "MiscCosts", "PaymentCost", "SettleCost", "AuthorisationSchemeFee", "InvoiceDeduction"),
        *("DepositCorrection", "ReserveAdjustment", "Balancetransfer", "MatchedStatement"),
        *("BankInstructionReturned", "InternalCompanyPayout", "EpaPaid", "PaidOut"),
        "PaidOutReversed",
    ]
)
# The names of time zones that are unambiguous.
UTC_OFFSETS = {"UTC": 0, "GMT": 0, "BST": 1, "CET": 1, "CEST": 2, "SGT": 8, "HKT": 8, "PHT": 8}
FORMAT = "%Y-%m-%d %H:%M:%S"


class SettlementDetails:
    """The layout. A batch lists only what was paid out in it, so the report covers no period."""

    provider, title = "adyen", "settlement details report"
    names = (TYPE, DATE, ZONE, OUR_OPERATION, OUR_PAYMENT, *THEIRS, *GROSS, *NET)
    zone: tzinfo = UTC
    covers_days = False

    def names_in(self, row: ReportRow) -> tuple[str, str]:
        word = row.read(TYPE, cells.read_word)
        reference = _operation(row)[1] or row.read(OUR_PAYMENT, cells.read_reference)
        # Of a payment under a name that is none of ours we know Adyen's name, and not that of each capture.
        is_ours = REFERENCE.fullmatch(reference) or KINDS.get(word) in OF_REFUNDS
        provider_ref = row.first_of(THEIRS if is_ours else THEIRS[::-1])
        return reference, provider_ref or ("" if reference else word)

    def line(self, row: ReportRow) -> SettlementLine | None:
        word = row.read(TYPE, cells.read_word)
        if word in OF_THE_ACCOUNT:
            return None
        currency, amount = _amount(row)
        if not amount:
            return None
        zone = row.read(ZONE, _zone)
        reference, provider_ref = self.names_in(row)
        return SettlementLine(
            reference=reference,
            provider_ref=provider_ref,
            kind=_kind(word, _operation(row)[0], amount),
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


def _operation(row: ReportRow) -> tuple[str, str]:
    """Return the kind of our operation and its reference, both empty where the row has no name that we gave."""
    role, _, reference = row.cells[OUR_OPERATION].partition("-")
    return (role, reference) if role in ROLES and REFERENCE.fullmatch(reference) else ("", "")


def _amount(row: ReportRow) -> tuple[str, int]:
    """Return the currency and the signed amount: a credit is positive, and 0 moves nothing."""
    currency_name, *sides = GROSS if any(row.cells[name].strip("0.") for name in GROSS[1:]) else NET
    currency = row.read(currency_name, cells.read_currency)
    if not any(row.cells[name] for name in sides):
        raise ValueError(f"column {sides[0]}: must be there, or {sides[1]} must")
    # The other side is empty, or 0.
    debit, credit = (row.read(side, lambda text: cells.read_amount(text or "0", currency)) for side in sides)
    if debit and credit:
        raise ValueError(f"column {sides[0]}: must be there, or {sides[1]} must, and not both")
    return currency, credit - debit


def _zone(text: str) -> timezone:
    if text not in UTC_OFFSETS:
        raise ValueError(f"must be one of {', '.join(UTC_OFFSETS)}; set the report's time zone to UTC at Adyen")
    return timezone(timedelta(hours=UTC_OFFSETS[text]))


def _moment(text: str, zone: tzinfo) -> datetime:
    def parse(text: str) -> datetime:
        return datetime.strptime(text, FORMAT).replace(tzinfo=zone)

    return cells.read_moment(text, parse, "2026-11-21 13:30:59")

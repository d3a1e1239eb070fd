"""Xendit's balance report, as its documentation describes it: contract-tested, not run against the provider.

Each row moves the balance by an unsigned amount in major units and a side. A capture has its payment's reference; what
names a chargeback is not documented, so it is found by our reference or by Xendit's name of the dispute.
"""

from datetime import UTC, datetime, tzinfo

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.cells import Row
from payments.providers.settlement_reports import Movement, SettlementLine

TYPE, LINE, SIDE = "Transaction Type", "Line Type", "Debit or Credit"
REFERENCE, THEIRS = "Reference", ("Product ID", "Transaction ID")
CURRENCY, AMOUNT, DATE = "Currency", "Amount", "Created Date ISO"
SIDES = {"DEBIT": -1, "CREDIT": 1}
KINDS = {
    ("PAYMENT", "TRANSACTION"): Movement.CAPTURE,
    ("REFUND", "TRANSACTION"): Movement.REFUND,
    ("REFUND", "TRANSACTION_REVERSAL"): Movement.REFUND_RETURNED,
    ("CHARGEBACK", "TRANSACTION"): Movement.DISPUTE,
    # Of disputes that are handled by mail, as those of all channels were before the Disputes API.
    ("CHARGEBACK_DEDUCTION", "TRANSACTION"): Movement.DISPUTE,
    ("CHARGEBACK_REVERSAL", "TRANSACTION"): Movement.DISPUTE_WON,
}
# Xendit's fees, and money that left the account or came back to it by no payment: our payouts, and any other.
COSTS = frozenset(["FEE", "VAT", "FEE_REVERSAL", "VAT_REVERSAL"])
OF_THE_ACCOUNT = frozenset(["WITHDRAWAL", "PLATFORM_FEE", "DISBURSEMENT", "BATCH_DISBURSEMENT", "REMITTANCE_PAYOUT"])


class BalanceReport:
    """The layout. Payments appear when they are settled, days after they were made, so the report covers no period."""

    provider, title = "xendit", "balance report"
    names = (TYPE, LINE, SIDE, REFERENCE, *THEIRS, CURRENCY, AMOUNT, DATE)
    zone: tzinfo = UTC
    covers_days = False

    def names_in(self, row: Row) -> tuple[str, str]:
        return row.read(REFERENCE, cells.read_reference), row.first_of(THEIRS)

    def line(self, row: Row) -> SettlementLine | None:
        kind, line = row.read(TYPE, cells.read_word), row.read(LINE, cells.read_word)
        # Xendit's pages write some types in small letters.
        if kind.upper() in OF_THE_ACCOUNT or line in COSTS:
            return None
        currency = row.read(CURRENCY, cells.read_currency)
        amount = row.read(SIDE, _sign) * row.read(AMOUNT, lambda text: cells.read_amount(text, currency))
        if not amount:
            return None
        movement = KINDS.get((kind.upper(), line), Movement.OTHER)
        reference, provider_ref = self.names_in(row)
        return SettlementLine(
            reference=reference,
            provider_ref=provider_ref,
            kind=movement if movement.sign * amount > 0 else Movement.OTHER,
            amount=amount,
            currency=currency,
            booked_at=row.read(DATE, _moment),
            word=kind if line == "TRANSACTION" else f"{kind} {line}",
        )


def _sign(text: str) -> int:
    if text not in SIDES:
        raise ValueError(f"must be one of {', '.join(SIDES)}")
    return SIDES[text]


def _moment(text: str) -> datetime:
    moment = cells.read_moment(text, datetime.fromisoformat, "2026-11-21T13:30:59.123Z")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

"""Xendit's balance report, as its documentation describes it: contract-tested, not run against the provider.

Each row moves the balance by an unsigned amount in major units and a side. A capture has its payment's reference; what
names a chargeback is not documented, so it is found by our reference or by Xendit's name of the dispute.
"""

import re
from datetime import UTC, datetime, tzinfo

from payments.domain.reconciliation import cells
from payments.domain.reconciliation.cells import ReportRow
from payments.providers.settlement_reports import Movement, SettlementLine

TYPE, LINE, SIDE = "Transaction Type", "Line Type", "Debit or Credit"
REFERENCE, THEIRS = "Reference", ("Product ID", "Transaction ID")
CURRENCY, AMOUNT, DATE = "Currency", "Amount", "Created Date ISO"
# A report made on the dashboard has its maker's time zone, such as `+0800 UTC`. Older reports have no such column.
ZONE = "Time Zone"
OFFSET = re.compile(r"([+-][0-9]{2}):?([0-9]{2})(?: UTC)?")
SIDES = {"DEBIT": -1, "CREDIT": 1}
KINDS = {
    ("PAYMENT", "TRANSACTION"): Movement.CAPTURE,
    ("REFUND", "TRANSACTION"): Movement.REFUND,
    ("REFUND", "TRANSACTION_REVERSAL"): Movement.REFUND_RETURNED,
    ("CHARGEBACK", "TRANSACTION"): Movement.DISPUTE,
    # Of disputes that are handled by mail, as those of all channels were before the Disputes API.
    ("CHARGEBACK_DEDUCTION", "TRANSACTION"): Movement.DISPUTE,
    ("CHARGEBACK_REVERSAL", "TRANSACTION"): Movement.DISPUTE_WON,
    ("WITHDRAWAL", "TRANSACTION"): Movement.PAYOUT,
}
# Older reports have the product before the kind, such as `EWALLET PAYMENT` and `VA_PAYMENT`.
OLDER = re.compile(r"[A-Z0-9_ -]+[ _](PAYMENT|REFUND)")
# Xendit's fees, and money that left the account or came back to it by no payment: our payouts, and any other.
COSTS = frozenset(["FEE", "VAT", "FEE_REVERSAL", "VAT_REVERSAL"])
OF_THE_ACCOUNT = frozenset(["PLATFORM_FEE", "DISBURSEMENT", "BATCH_DISBURSEMENT", "REMITTANCE_PAYOUT"])


class BalanceReport:
    """The layout. Payments appear when they are settled, days after they were made, so the report covers no period."""

    provider, title = "xendit", "balance report"
    names = (TYPE, LINE, SIDE, REFERENCE, *THEIRS, CURRENCY, AMOUNT, DATE)
    zone: tzinfo = UTC
    covers_days = False

    def names_in(self, row: ReportRow) -> tuple[str, str]:
        return row.read(REFERENCE, cells.read_reference), row.first_of(THEIRS)

    def line(self, row: ReportRow) -> SettlementLine | None:
        word, line = row.read(TYPE, cells.read_word), row.read(LINE, cells.read_word)
        kind = _kind(word)
        if kind in OF_THE_ACCOUNT or line in COSTS:
            return None
        currency = row.read(CURRENCY, cells.read_currency)
        amount = row.read(SIDE, _sign) * row.read(AMOUNT, lambda text: cells.read_amount(text, currency))
        if not amount:
            return None
        movement = KINDS.get((kind, line), Movement.OTHER)
        reference, provider_ref = self.names_in(row)
        return SettlementLine(
            reference=reference,
            provider_ref=provider_ref,
            kind=movement if movement.sign * amount > 0 else Movement.OTHER,
            amount=amount,
            currency=currency,
            booked_at=row.read(DATE, lambda text: _moment(text, row.cells.get(ZONE, ""))),
            word=word if line == "TRANSACTION" else f"{word} {line}",
        )


def _sign(text: str) -> int:
    if text not in SIDES:
        raise ValueError(f"must be one of {', '.join(SIDES)}")
    return SIDES[text]


def _kind(word: str) -> str:
    """Return a transaction type as of today. Xendit's pages write some types in small letters and with blanks."""
    kind = word.upper()
    older = OLDER.fullmatch(kind)
    return older[1] if older else kind.replace(" ", "_")


def _moment(text: str, zone: str) -> datetime:
    """Return the moment of a row, in the row's time zone where the text has none."""
    moment = cells.read_moment(text, datetime.fromisoformat, "2026-11-21T13:30:59.123Z")
    if moment.tzinfo:
        return moment
    offset = OFFSET.fullmatch(zone.strip(" "))
    shift = f"{offset[1]}:{offset[2]}" if offset else "+00:00"
    return datetime.fromisoformat(f"{moment.isoformat()}{shift}")

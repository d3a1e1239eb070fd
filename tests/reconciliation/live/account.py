"""Reports in the shape of real ones: hundreds of rows of everything that happens on an account, most of it not ours."""

from collections.abc import Iterator, Sequence
from random import Random

from tests.reconciliation.live.reports import PAID, SETTLED

ROWS_PER_TYPE = 12
# Names that people, tills and other programs give.
FOREIGN = (
    *("order 1001", "till-7/0042", "@sari", "+63 917 000 0000", "=HYPERLINK(1)", "-", "Peña, Juan", 'the "blue" one'),
    *("refund-17", "capture-", "<auto>", "0190a1fc472c7874b1b67520502f78", "f" * 32, "注文 7", ""),
)
# Adyen's journal types, as its page on the report lists them, and the side on which each moves money.
PAYMENT_TYPES = {
    "Settled": "Credit",
    "Refunded": "Debit",
    "RefundedReversed": "Credit",
    "Chargeback": "Debit",
    "SecondChargeback": "Debit",
    "ChargebackReversed": "Credit",
    "ManualCorrected": "Debit",
}
ACCOUNT_TYPES = {
    "Fee": "Debit",
    "MiscCosts": "Debit",
    "DepositCorrection": "Debit",
    "InvoiceDeduction": "Debit",
    "MatchedStatement": "Credit",
    "AuthorisationSchemeFee": "Debit",
    "BankInstructionReturned": "Credit",
    "InternalCompanyPayout": "Debit",
    "EpaPaid": "Debit",
    "Balancetransfer": "Credit",
    "PaymentCost": "Debit",
    "SettleCost": "Debit",
    "PaidOut": "Debit",
    "PaidOutReversed": "Credit",
    "ReserveAdjustment": "Credit",
}
# Xendit's types; each of a payment has its fee and tax beside it.
XENDIT_TYPES = {
    "PAYMENT": "CREDIT",
    "IN_PERSON_PAYMENT": "CREDIT",
    "REFUND": "DEBIT",
    "CHARGEBACK": "DEBIT",
    "TRANSFER": "DEBIT",
    "OTHER": "CREDIT",
}
XENDIT_PAYOUTS = ("DISBURSEMENT", "BATCH_DISBURSEMENT", "REMITTANCE_PAYOUT", "PLATFORM_FEE")
Rows = list[dict[str, str]]


def account_of(provider: str, ours: Sequence[dict[str, str]]) -> Rows:
    """Return a report's rows, with `ours` among hundreds of others, the same on every call."""
    draw = Random(36)
    rows = list({"adyen": _adyen, "xendit": _xendit}[provider](draw))
    draw.shuffle(rows)
    for place, row in enumerate(ours):
        rows.insert((place + 1) * len(rows) // (len(ours) + 1), {**row})
    return rows


def foreign_lines(provider: str) -> int:
    """Return how many rows of others move money of payments."""
    return ROWS_PER_TYPE * len({"adyen": PAYMENT_TYPES, "xendit": XENDIT_TYPES}[provider])


def _adyen(draw: Random) -> Iterator[dict[str, str]]:
    for word, side in PAYMENT_TYPES.items():
        for number in range(ROWS_PER_TYPE):
            amount = f"{draw.randint(1, 99_999)}.{draw.randint(0, 99):02}"
            yield {
                "Type": word,
                "Psp Reference": f"F{draw.getrandbits(60):015X}",
                "Modification Reference": f"F{draw.getrandbits(60):015X}",
                "Merchant Reference": draw.choice(FOREIGN),
                "Modification Merchant Reference": draw.choice(FOREIGN),
                "Gross Credit (GC)": "",
                f"Gross {side} (GC)": amount,
                "Net Credit (NC)": "",
                f"Net {side} (NC)": amount,
                "Creation Date": f"2026-11-{number + 1:02} 23:59:59",
                "TimeZone": draw.choice(["CET", "CEST", "UTC", "SGT"]),
                "Commission (NC)": "0.10",
                "Payment Method": draw.choice(["visa", "mc", "gcash", ""]),
            }
    for word, side in ACCOUNT_TYPES.items():
        for _ in range(ROWS_PER_TYPE):
            amounts = {"Net Credit (NC)": "", f"Net {side} (NC)": f"{draw.randint(0, 999)}.00"}
            names = dict.fromkeys(("Psp Reference", "Merchant Reference", "Gross Currency", "Gross Credit (GC)"), "")
            yield {"Type": word, "Modification Reference": word, **names, **amounts}


def _xendit(draw: Random) -> Iterator[dict[str, str]]:
    for word in (*XENDIT_TYPES, *XENDIT_PAYOUTS):
        for number in range(ROWS_PER_TYPE):
            row = {
                "Transaction Type": word,
                "Transaction ID": f"txn_f{draw.getrandbits(60):x}",
                "Product ID": f"f-{draw.getrandbits(60):x}",
                "Reference": draw.choice(FOREIGN),
                "Debit or Credit": XENDIT_TYPES.get(word, "DEBIT"),
                "Amount": f"{draw.randint(1, 99_999)}.{draw.randint(0, 99):02}",
                "Created Date ISO": f"2026-11-{number + 1:02}T23:59:59.999Z",
            }
            yield row
            costs = {"Debit or Credit": "DEBIT", "Amount": draw.choice(["0", "1.12", "15.00"])}
            yield from (row | costs | {"Line Type": line} for line in ("FEE", "VAT"))


def columns(provider: str) -> list[str]:
    """Return the columns that are read."""
    return {"adyen": [*SETTLED, "Modification Merchant Reference", "Gross Debit (GC)"], "xendit": [*PAID]}[provider]

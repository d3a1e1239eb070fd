"""Reports of live providers in their documented layouts."""

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from payments.domain.reconciliation.layouts import LAYOUTS
from payments.models import ReconciliationRun
from payments.providers.settlement_reports import SettlementLine
from tests.reconciliation.factories import lines_in, read_file

# A header as each documents it, and a row of a payment that was taken at once.
ADYEN = [
    "Company Account",
    "Merchant Account",
    "Psp Reference",
    "Merchant Reference",
    "Payment Method",
    "Creation Date",
    "TimeZone",
    "Type",
    "Modification Reference",
    "Gross Currency",
    "Gross Debit (GC)",
    "Gross Credit (GC)",
    "Exchange Rate",
    "Net Currency",
    "Net Debit (NC)",
    "Net Credit (NC)",
    "Commission (NC)",
    "Markup (NC)",
    "Scheme Fees (NC)",
    "Interchange (NC)",
    "Payment Method Variant",
    "Modification Merchant Reference",
    "Batch Number",
]
XENDIT = [
    "Product ID",
    "Transaction ID",
    "Transaction Type",
    "Line Type",
    "Payment Channel",
    "Reference",
    "Currency",
    "Amount",
    "Balance",
    "Debit or Credit",
    "Created Date ISO",
    "Time Zone",
]
SETTLED = {
    "Psp Reference": "PSP1",
    "Merchant Reference": "0190a1fc472ce874b1b67520502f7850",
    "Creation Date": "2026-11-20 13:30:59",
    "TimeZone": "CET",
    "Type": "Settled",
    "Modification Reference": "PSP2",
    "Gross Currency": "PHP",
    "Gross Credit (GC)": "100.00",
    "Net Currency": "EUR",
    "Net Credit (NC)": "1.50",
}
PAID = {
    "Product ID": "py-1",
    "Transaction ID": "txn_1",
    "Transaction Type": "PAYMENT",
    "Line Type": "TRANSACTION",
    "Reference": "0190a1fc472ce874b1b67520502f7850",
    "Currency": "PHP",
    "Amount": "100.00",
    "Debit or Credit": "CREDIT",
    "Created Date ISO": "2026-11-20T12:30:59.000Z",
}
LAID_OUT = {"adyen": (ADYEN, SETTLED), "xendit": (XENDIT, PAID)}
DEBIT = {"Gross Credit (GC)": "", "Gross Debit (GC)": "10.00"}
CHARGEBACK = {"Type": "Chargeback", **DEBIT}
REFUND = {"Transaction Type": "REFUND", "Debit or Credit": "DEBIT"}
TAKEN_BACK = {"Transaction Type": "CHARGEBACK", "Debit or Credit": "DEBIT"}
PROVIDERS = pytest.mark.parametrize("provider", LAID_OUT)


def report(folder: Path, provider: str, *changes: Mapping[str, str]) -> Path:
    """Write a report of `provider` with a row for each of `changes`; return its path."""
    header, row = LAID_OUT[provider]
    path = folder / "report.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, header, restval="")
        out.writeheader()
        out.writerows({**row, **each} for each in changes)
    return path


def read(folder: Path, provider: str, *changes: Mapping[str, str]) -> list[SettlementLine]:
    return lines_in(report(folder, provider, *changes), LAYOUTS[provider])


def reconcile(folder: Path, provider: str, *changes: Mapping[str, str]) -> ReconciliationRun:
    return read_file(report(folder, provider, *changes), provider)

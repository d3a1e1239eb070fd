"""Files as spreadsheets, banks and providers of several countries export them, and the layouts that read them."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO, StringIO
from types import MappingProxyType
from typing import Any

import openpyxl

from payments.domain.reconciliation.columns.layout import AnyReport, ColumnLayout, Meaning, Role
from payments.providers.settlement_reports import SettlementLine

COLUMNS = {
    Role.REFERENCE: "Merchant Reference",
    Role.DATE: "Date",
    Role.KIND: "Type",
    Role.AMOUNT: "Amount",
    Role.CURRENCY: "Currency",
}
KINDS = {"sale": Meaning.CHARGE, "refund": Meaning.REFUND, "fee": Meaning.FEE}
LAYOUT = ColumnLayout(COLUMNS, KINDS, "%d/%m/%Y", skipped=("total",))
HEADER = ("Date", "Merchant Reference", "Type", "Amount", "Currency")
ROWS = (
    ("28/11/2026", "order-1", "Sale", "1,234.50", "PHP"),
    ("29/11/2026", "order-2", "Sale", "0.50", "PHP"),
    ("30/11/2026", "order-1", "Refund", "-1,000.00", "PHP"),
)
READ = [("order-1", "capture", 123450), ("order-2", "capture", 50), ("order-1", "refund", -100000)]


def report(layout: ColumnLayout = LAYOUT) -> AnyReport:
    return AnyReport("acme", layout)


def text_of(rows: Sequence[Sequence[str]], separator: str = ",", **form: Any) -> str:
    out = StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n", **form).writerows(rows)
    return out.getvalue()


def sheets(**rows: Sequence[Sequence[object]]) -> bytes:
    """Return an Xlsx file with these sheets; those with `_` before their names are hidden."""
    book, out = openpyxl.Workbook(), BytesIO()
    book.remove(book.active)
    for name, values in rows.items():
        sheet = book.create_sheet(name)
        sheet.sheet_state = "hidden" if name[0] == "_" else "visible"
        for row in values:
            sheet.append(row)
    book.save(out)
    return out.getvalue()


def short(lines: Sequence[SettlementLine]) -> list[tuple[str, str, int]]:
    return [(line.reference, line.kind, line.amount) for line in lines]


def changed(columns: Mapping[Role, str] = MappingProxyType({}), **settings: Any) -> ColumnLayout:
    """Return the layout with other settings, and other columns: none of a role whose name is empty."""
    named = {role: name for role, name in {**COLUMNS, **columns}.items() if name}
    return replace(LAYOUT, columns=named, **settings)

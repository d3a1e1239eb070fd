"""Layouts that Lea asks for and Max approves, and files that they read."""

from dataclasses import replace
from io import BytesIO
from typing import Any

from openpyxl import Workbook

from payments.domain.approvals import decide
from payments.domain.approvals.request import submit
from payments.domain.reconciliation.columns.layout import ColumnLayout, Meaning, Role
from payments.ids import new_id
from payments.models import ApprovalRequest, FileLayout
from tests.operators.factories import NOTE, person

COLUMNS = {
    Role.PROVIDER_REF: "Payment ID",
    Role.DATE: "Datum",
    Role.AMOUNT: "Betrag",
    Role.CURRENCY: "Währung",
    Role.KIND: "Art",
}
LAYOUT = ColumnLayout(COLUMNS, {"zahlung": Meaning.CHARGE}, "%d.%m.%Y", ",", skipped=("summe",))
HEAD = list(COLUMNS.values())


def requested_layout(
    account: str = "simulator", version: int = 1, layout: ColumnLayout = LAYOUT, **members: Any
) -> ApprovalRequest:
    """Return Lea's saved request for a version of the layout of an account."""
    request_id = new_id()
    after = {"account": account, "version": version, "settings": layout.as_json()}
    given = {"reason": "Their files changed", "proposed_by": person("lea", "finance")} | members
    request = ApprovalRequest(id=request_id, subject_id=request_id, kind="file_layout", after=after, **given)
    submit(request)
    return request


def layout_in_force(account: str = "simulator", version: int = 1, **changed: Any) -> FileLayout:
    """Return a version of a layout, with the settings `changed`, that Max has approved."""
    request = requested_layout(account, version, replace(LAYOUT, **changed))
    decide.approve(request, person("max", "administrator"), NOTE)
    return request.layout


def rows_of(*refs: str) -> list[list[str]]:
    """Return a letterhead, the header, and a payment of 18.89 pesos under each of `refs`, with their sum."""
    payments = [[ref, "24.11.2026", "18,89", "PHP", "Zahlung"] for ref in refs]
    return [["Bank am Markt"], HEAD, *payments, ["Summe", "", f"{len(refs) * 18},00"]]


def csv_of(*refs: str) -> bytes:
    return "\r\n".join(";".join(cells) for cells in rows_of(*refs)).encode("utf-8-sig")


def xlsx_of(*refs: str) -> bytes:
    book, out = Workbook(), BytesIO()
    for cells in rows_of(*refs):
        book.active.append(cells)
    book.save(out)
    return out.getvalue()

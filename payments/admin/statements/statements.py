"""Statements of merchants by month: shown, and downloaded as PDF and CSV."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse

from payments.admin.framework.formats import money
from payments.admin.framework.object_actions import operator_of
from payments.admin.statements.of_merchant import OfMerchant, asked_mode, asked_month
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.statements import statement as statements
from payments.domain.statements.csv_file import statement_lines
from payments.domain.statements.pdf_file import statement_pdf
from payments.domain.statements.statement import BadMonth, Owed, Section, month_of, statement_of
from payments.models import Statement

MAY_DOWNLOAD = "payments.download_statement"
# By extension: the content type, and how the file is made.
FILES: dict[str, tuple[str, Callable[[statements.Statement], bytes]]] = {
    "pdf": ("application/pdf", statement_pdf),
    "csv": ("text/csv; charset=utf-8", lambda statement: b"".join(statement_lines(statement))),
}


@admin.register(Statement)
class StatementAdmin(OfMerchant):
    views = {"payments_statement_download": ("<uuid:pk>/<str:month>/<str:mode>.<str:kind>", "download")}

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        """Show the statement of the month and mode in the address."""
        merchant = self.merchant_of(request, object_id)
        first, refusal = asked_month(request)
        statement = statement_of(merchant, asked_mode(request, merchant), first)
        context = {
            "merchant": merchant,
            "statement": statement,
            "sections": [(section, _rows(section)) for section in statement.sections],
            "month": f"{first:%Y-%m}",
            "refusal": refusal,
            "kinds": FILES if operator_of(request).has_perm(MAY_DOWNLOAD) else (),
        }
        return self.page(request, "statement", f"{merchant.title}: statement {first:%B %Y}", **context)

    def download(self, request: HttpRequest, pk: UUID, month: str, mode: str, kind: str) -> HttpResponse:
        """Return the statement as a file, and record the download."""
        if not operator_of(request).has_perm(MAY_DOWNLOAD):
            raise PermissionDenied
        merchant = self.merchant_of(request, str(pk))
        if kind not in FILES or mode not in ("live", "test"):
            raise Http404
        try:
            first = month_of(month)
            statement = statement_of(merchant, mode == "live", first)
        except BadMonth as refusal:
            raise Http404 from refusal
        content_type, make = FILES[kind]
        content = make(statement)
        name = f"{statement.file_name}.{kind}"
        audit_log.record(Action.EXPORTED, merchant, detail=name)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(content, content_type=content_type, headers=headers)


def _rows(section: Section) -> list[tuple[object, str, list[str], bool]]:
    """Return day, words and amounts of each row, and whether it is a balance."""

    def amounts(change: Owed, total: int | None) -> list[str]:
        figures = (change.pending, change.available, total)
        return ["" if figure is None else money(figure, section.currency) for figure in figures]

    rows: list[tuple[object, str, list[str], bool]] = [
        ("", "Opening balance", amounts(section.opening, section.opening.total), True)
    ]
    rows += [(row.day, row.words, amounts(row.change, row.after.total), False) for row in section.rows]
    rows.append(("", "Closing balance", amounts(section.closing, section.closing.total), True))
    return rows + [("Total", words, amounts(change, None), False) for words, change in section.totals]

"""Statements of merchants by month: shown, and downloaded as PDF and CSV."""

from collections.abc import Callable
from datetime import date
from typing import Any
from urllib.parse import quote
from uuid import UUID

from anyascii import anyascii
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.http import content_disposition_header
from django.utils.translation import gettext

from payments.admin.framework.formats import link, short_id
from payments.admin.framework.object_actions import ActionButton, operator_of
from payments.admin.statements.of_merchant import OfMerchant, asked_mode, asked_month
from payments.domain.audit import audit_log
from payments.domain.audit.audit_log import Action
from payments.domain.statements import statement as statements
from payments.domain.statements.csv_file import statement_lines
from payments.domain.statements.pdf_file import letterhead, statement_pdf
from payments.domain.statements.statement import LINE_WORDS, BadMonth, Chapter, Owed, Row, month_of, statement_of
from payments.domain.statements.summary import Line, summary_of
from payments.inbox.statements import MAY_GET
from payments.models import Merchant, Payout, Statement
from payments.money import plain_amount, shown_amount

# By extension: the content type, and how the file is made.
FILES: dict[str, tuple[str, Callable[[statements.Statement], bytes]]] = {
    "pdf": ("application/pdf", statement_pdf),
    "csv": ("text/csv; charset=utf-8", lambda statement: b"".join(statement_lines(statement))),
}


@admin.register(Statement)
class StatementAdmin(OfMerchant):
    for_merchants = "title books"
    # A file whose download is recorded by a page that may not write is asked for by a POST.
    posts = False
    views = {"payments_statement_download": ("<uuid:pk>/<str:month>/<str:mode>.<str:kind>", "download")}

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        """Show the statement of the month and mode in the address."""
        merchant = self.merchant_of(request, object_id)
        first, refusal = asked_month(request)
        statement = statement_of(merchant, asked_mode(request, merchant), first)
        acts = self.downloads(request, merchant, first, statement.mode)
        context = {
            "merchant": merchant,
            "statement": statement,
            "letterhead": letterhead(),
            "sections": [(section, _summary(section), _rows(section)) for section in statement.sections],
            "month": f"{first:%Y-%m}",
            "refusal": refusal,
            "acts": acts,
        }
        return self.page(request, "statement", _title(statement), **context)

    def downloads(self, request: HttpRequest, merchant: Merchant, first: date, mode: str) -> list[ActionButton]:
        """Return the buttons to the files of a month, as far as this user may have them."""
        kinds = FILES if operator_of(request).has_perm(MAY_GET) else ()
        named = [merchant.pk, f"{first:%Y-%m}", mode]
        return [
            ActionButton(kind.upper(), reverse("admin:payments_statement_download", args=[*named, kind]), self.posts)
            for kind in kinds
        ]

    def download(self, request: HttpRequest, pk: UUID, month: str, mode: str, kind: str) -> HttpResponse:
        """Return the statement as a file, and record the download."""
        if not operator_of(request).has_perm(MAY_GET):
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
        name = f"{statement.name}.{kind}"
        audit_log.record(Action.EXPORTED, merchant, detail=name)
        return HttpResponse(content, content_type=content_type, headers={"Content-Disposition": _saved_as(name)})


def _title(statement: statements.Statement) -> str:
    """Return the name of a statement in the language of the page."""
    words = gettext("Statement of {merchant}, {month}")
    if not statement.livemode:
        words = gettext("Statement of {merchant}, {month}, test mode")
    return words.format(merchant=statement.merchant.title, month=date_format(statement.first, "F Y"))


def _saved_as(name: str) -> str:
    """Return the header that names a file, in ASCII too for programs that do not read RFC 6266."""
    plain = str(content_disposition_header(as_attachment=True, filename=anyascii(name)))
    return plain if name.isascii() else f"{plain}; filename*=UTF-8''{quote(name)}"


def _summary(section: Chapter) -> list[tuple[Line, str]]:
    """Return each line of the summary with its amount."""
    return [(line, shown_amount(line.amount, section.currency)) for line in summary_of(section)]


def _rows(section: Chapter) -> list[tuple[object, object, list[str], bool]]:
    """Return day, words and amounts of each movement, and of the balances before and after, of which the last is true.

    Empty is what did not change; the balance is always there.
    """

    def amounts(change: Owed, after: Owed) -> list[str]:
        changes = [plain_amount(each, section.currency) if each else "" for each in (change.pending, change.available)]
        return [*changes, plain_amount(after.total, section.currency)]

    def balance(words: str, owed: Owed) -> tuple[object, object, list[str], bool]:
        return "", words, amounts(owed, owed), True

    moved = [(row.day, _words(row), amounts(row.change, row.after), False) for row in section.rows]
    ends = balance(gettext("Opening balance"), section.opening), balance(gettext("Closing balance"), section.closing)
    return [ends[0], *moved, ends[1]] if moved else []


def _words(row: Row) -> object:
    if not row.payout_id:
        return gettext(row.words)
    return format_html("{} {}", gettext(LINE_WORDS[row.kind]), link(Payout, row.payout_id, short_id(row.payout)))

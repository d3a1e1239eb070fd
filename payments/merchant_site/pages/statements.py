"""The months of the merchant's statements, and each statement with its files."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from payments import clock
from payments.admin.framework.object_actions import operator_of
from payments.admin.lists.mode import mode_of
from payments.admin.lists.schedules import NotYet
from payments.admin.statements.of_merchant import books_of, mode_name, month_before
from payments.admin.statements.scheduled_files import FileScheduleAdmin
from payments.admin.statements.statements import StatementAdmin
from payments.domain.statements.csv_file import statement_lines
from payments.domain.statements.statement import next_month, statement_of
from payments.inbox.statements import MAY_GET
from payments.ledger.account_days import first_unsummed, midnight
from payments.ledger.sums import is_final
from payments.merchant_site.policy import on_merchant_site
from payments.merchant_site.site import merchant_of
from payments.models import AccountDay, FileSchedule, Statement

# Ten years.
SHOWN_MONTHS = 120
on_merchant_site(FileSchedule)(FileScheduleAdmin)


@on_merchant_site(Statement)
class MerchantStatements(StatementAdmin):
    """A list of months in place of the back office's list of merchants."""

    posts = True
    download = method_decorator(require_POST)(StatementAdmin.download)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the months in the chosen mode, the newest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        merchant, mode = self.merchant_of(request, str(merchant_of(request).pk)), mode_of(request)
        unsummed = first_unsummed()
        page = reverse("admin:payments_statement_change", args=[merchant.pk])
        months = [
            {
                "first": first,
                "address": f"{page}?month={first:%Y-%m}&mode={mode}",
                "is_final": unsummed is not None and next_month(first) <= unsummed,
                "acts": self.downloads(request, merchant, first, mode),
            }
            for first in _months(merchant, mode)
        ]
        save = reverse("admin:payments_statement_saveview") if self.may_send(request) else ""
        return self.page(request, "months", gettext("Statements"), months=months, save_address=save)

    def may_send(self, request: HttpRequest) -> bool:
        return bool(self.has_view_permission(request)) and operator_of(request).has_perm(MAY_GET)

    def scheduled_lines(self, request: HttpRequest, most: int) -> Iterable[bytes]:
        """Return the statement of the month before, once it is final. Raises NotYet."""
        until = timezone.localdate(clock.now()).replace(day=1)
        if not is_final(midnight(until)):
            raise NotYet
        merchant = self.merchant_of(request, str(merchant_of(request).pk))
        return statement_lines(statement_of(merchant, mode_of(request) == "live", month_before(until)))


def _months(merchant: Any, mode: str) -> list[date]:
    """Return this month and those before it, back to the first with a movement."""
    own = AccountDay.objects.filter(merchant=merchant, livemode=mode == "live")
    codes = [code for livemode, code in books_of(merchant) if mode_name(livemode) == mode]
    # One index entry for each currency, where the smallest of all days would read them all.
    days = [own.filter(currency=code).order_by("day").values_list("day", flat=True).first() for code in codes]
    months = [clock.now().date().replace(day=1)]
    begins = min(filter(None, days), default=months[0])
    while months[-1] > begins and len(months) < SHOWN_MONTHS:
        months.append(month_before(months[-1]))
    return months

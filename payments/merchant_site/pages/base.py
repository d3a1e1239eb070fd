"""What makes a page of the back office one of the merchants' site."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.object_actions import ActionButton, operator_of
from payments.admin.framework.row_actions import RowAction
from payments.admin.lists.page import MAY_EXPORT
from payments.admin.people import MERCHANT
from payments.merchant_site.site import merchant_of
from payments.models import MerchantAccess
from payments.models.merchants.merchant_access import Limit

# The columns, filters and heads of files that are the same on every page.
ON_ALL_PAGES = ("public_id", "charge_link", "created", "created_at", "updated", "decided", "expires", "mode", "events")
# The permission to see what developers look at: events, and each request.
SEES_EVENTS = "payments.view_event"


class OfMerchant(BaseAdmin):
    """A page for one merchant's people: a base class before the page of the back office.

    It shows the columns, fields, filters, searched fields, heads of files, parts and related rows that say
    `for_merchants`, and no other: what is new in the back office is shown to no merchant.
    """

    records_views = False
    row_actions: Sequence[RowAction] = ()

    def __init__(self, *of_site: Any) -> None:
        super().__init__(*of_site)
        self.list_display, self.file_columns, self.head_columns = (
            _allowed(self, names) for names in (self.list_display, self.file_columns, self.head_columns)
        )
        if self.file_cells:
            self.file_cells = {head: self.file_cells[head] for head in _allowed(self, self.file_cells)}
        self.parts = [part for part in self.parts if part.for_merchants]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return _allowed(self, super().get_search_fields(request))

    def get_list_filter(self, request: HttpRequest) -> Any:
        filters = {getattr(one, "parameter_name", one): one for one in super().get_list_filter(request)}
        return [filters[name] for name in _allowed(self, filters)]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        unseen = () if request.user.has_perm(SEES_EVENTS) else ("events",)
        groups = [
            (title, {**of, "fields": [name for name in _allowed(self, of["fields"]) if name not in unseen]})
            for title, of in super().get_fieldsets(request, obj)
        ]
        return [(title, of) for title, of in groups if of["fields"]]

    def get_inline_instances(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        inlines: list[Any] = super().get_inline_instances(request, obj)
        for inline in inlines:
            inline.fields = _allowed(inline, inline.fields)
        return [inline for inline in inlines if inline.fields]

    def beside_row(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        shown = super().beside_row(request, row)
        people = [person for person in shown.get("people", ()) if person.role != MERCHANT]
        # The headline names the row in the reader's language, which the text of a row does not.
        return shown | {"people": people, "subtitle": ""}

    def history_view(self, *_: Any, **__: Any) -> HttpResponse:
        """Raise Http404: what happened stands on the page of the row."""
        raise Http404

    def _may_continue(self, request: HttpRequest, limit: Limit) -> bool:
        """Return whether the user still has a role at the merchant that may export this list."""
        now = HttpRequest()
        now.user = User.objects.get(pk=operator_of(request).pk)
        rows = MerchantAccess.objects.memberships(now.user).filter(merchant_id__in=limit or ())
        membership = rows.select_related("merchant").first()
        if membership is None:
            return False
        now.user.membership = membership  # type: ignore[attr-defined]
        return now.user.has_perm(MAY_EXPORT) and self.has_view_permission(now)


def _allowed(page: Any, names: Iterable[Any]) -> list[Any]:
    """Return those of `names` that `page` has for merchants; a searched field is named without its sign."""
    allowed = {*ON_ALL_PAGES, *page.for_merchants.split()}
    return [name for name in names if name.lstrip("=^@") in allowed]


class MadeByAction(BaseAdmin):
    """A list with the button of `maker`, the action on the merchant that makes its rows."""

    maker: RowAction

    def beside_list(self, request: HttpRequest) -> dict[str, Any]:
        address = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_add")
        may = operator_of(request).has_perm(self.maker.permission)
        return super().beside_list(request) | {"acts": [ActionButton(self.maker.label, address)] if may else []}

    def add_view(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        """Show the form of the action, or carry it out."""
        if not operator_of(request).has_perm(self.maker.permission):
            raise PermissionDenied
        return self._answer(request, self.maker, merchant_of(request))

    def _page_of(self, row: Any) -> str:
        return super()._page_of(row) if isinstance(row, self.model) else self._list_address("")

"""What makes a page of the back office one of the merchants' site."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from payments.admin.framework.base import BaseAdmin
from payments.admin.framework.object_actions import ActionButton, operator_of
from payments.admin.framework.row_actions import RowAction
from payments.admin.lists.file import Cells
from payments.admin.lists.page import MAY_EXPORT
from payments.admin.people import MERCHANT
from payments.merchant_site.site import merchant_of
from payments.models import MerchantAccess
from payments.models.merchants.merchant_access import Limit

# What a merchant's people need not see: which merchant it is, and the service's own columns.
UNSEEN = ("merchant", "of_merchant", "shown_merchant", "provider_ref", "attempt_link", "shown_limit", "version")
HEADS_UNSEEN = ("merchant", "merchant_title")
# The permission to see what developers look at: events, and each request.
SEES_EVENTS = "payments.view_event"
# Filters that offer a choice of merchants.
FILTERS_UNSEEN = ("ByMerchant",)


class OfMerchant(BaseAdmin):
    """A page for one merchant's people: a base class before the page of the back office, less what they do not see."""

    records_views = False
    row_actions: Sequence[RowAction] = ()

    def shown_columns(self, request: HttpRequest) -> list[str]:
        return [name for name in super().shown_columns(request) if name not in UNSEEN]

    def cells_of_file(self) -> Cells:
        return {head: cell for head, cell in super().cells_of_file().items() if head not in HEADS_UNSEEN}

    def get_list_filter(self, request: HttpRequest) -> Any:
        filters = super().get_list_filter(request)
        return [one for one in filters if getattr(one, "__name__", one) not in FILTERS_UNSEEN]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        groups, unseen = super().get_fieldsets(request, obj), self.unseen(request, obj)
        seen = [(name, {**of, "fields": [each for each in of["fields"] if each not in unseen]}) for name, of in groups]
        return [(name, of) for name, of in seen if of["fields"]]

    def unseen(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the names of the fields and columns that the page of a row does not show to this user."""
        return UNSEEN if request.user.has_perm(SEES_EVENTS) else (*UNSEEN, "events")

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

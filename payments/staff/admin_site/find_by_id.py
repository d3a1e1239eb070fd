"""The search box for IDs on every page of the admin."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from payments.admin.framework.id_search import IdSearch
from payments.sensitive_data.card_numbers import holds_card_number
from payments.staff.admin_site.search_terms import REFUSED


@require_POST
def find(request: HttpRequest) -> HttpResponse:
    """Redirect to the page of the row with this ID, else to the charges that match the term."""
    term = request.POST.get("q", "").strip()
    if holds_card_number(term):
        messages.warning(request, REFUSED)
        return redirect("admin:index")
    row = next(_named_by(request, term), None)
    if row is None:
        return redirect(f"{reverse('admin:payments_charge_changelist')}?{urlencode({'q': term})}")
    return redirect(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", row.pk)


def _named_by(request: HttpRequest, term: str) -> Iterator[Model]:
    """Yield the rows with the ID `term` that the operator may see."""
    for page in admin.site._registry.values():
        if isinstance(page, IdSearch) and page.has_view_permission(request):
            own = (condition for condition in page.conditions(term) if set(condition) == {"pk"})
            for condition in own:
                yield from page.get_queryset(request).filter(**condition)

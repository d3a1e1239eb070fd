"""What is new on a page of the back office shows to no merchant until it says `for_merchants`."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.test import RequestFactory

from payments.admin.framework.base import ReadOnlyInline
from payments.admin.framework.filters import one_of
from payments.admin.framework.formats import column
from payments.admin.framework.object_actions import Part
from payments.domain.merchants.merchants import NewMerchant
from payments.merchant_site.site import merchant_site
from payments.models import ApprovalRequest, AssistantCall, Charge, MerchantAccess, OperatorAction
from tests.merchant_site.conftest import member

pytestmark = pytest.mark.django_db
admin.autodiscover()
PAGES = list(merchant_site._registry.values())
NEW = "new_column"


class NewPart(Part):
    """A part that the back office got."""


class NewRows(ReadOnlyInline):
    model = Charge
    fields = (NEW,)


@pytest.fixture
def request_of_owner(shop: NewMerchant) -> Any:
    """Return a request of an owner, who may see more than others."""
    request: Any = RequestFactory().get("/merchant/")
    request.user = member(shop.merchant)
    request.user.membership = MerchantAccess.objects.get(user=request.user)
    return request


@pytest.fixture(params=PAGES, ids=lambda page: type(page).__name__)
def page(request: pytest.FixtureRequest) -> Any:
    """Return a page of the merchants' site, whose page of the back office got something new of everything."""
    known = request.param
    new = {
        NEW: column("New", lambda row: "what no merchant may see"),
        "list_display": (*known.list_display, NEW),
        "list_filter": (*known.list_filter, one_of(NEW, ["one"]), "new_at"),
        "search_fields": (*known.search_fields, f"={NEW}", "note"),
        "file_columns": (*known.file_columns, NEW) if known.file_columns else (),
        "file_cells": {**known.file_cells, NEW: str} if known.file_cells else None,
        "head_columns": (*known.head_columns, NEW),
        "inlines": (*known.inlines, NewRows),
        "parts": (*known.parts, NewPart()),
        "row_actions": (*known.row_actions, NewPart()),
        "fieldsets": (*(known.fieldsets or ()), ("New", {"fields": (NEW,)})),
    }
    return type(known)(known.model, merchant_site, policy=known.policy, for_merchants=known.for_merchants, **new)


def test_a_new_column_is_on_no_list_and_in_no_file(page: Any, request_of_owner: Any) -> None:
    shown = [getattr(each, "column_name", each) for each in page.get_list_display(request_of_owner)]
    assert NEW not in shown
    assert not {NEW, "new"} & page.cells_of_file().keys()


def test_a_new_field_is_on_no_page_of_a_row(page: Any, request_of_owner: Any) -> None:
    assert NEW not in flatten_fieldsets(page.get_fieldsets(request_of_owner))
    assert NEW not in page.head_columns


def test_by_a_new_filter_no_list_is_filtered(page: Any, request_of_owner: Any) -> None:
    names = [getattr(each, "parameter_name", each) for each in page.get_list_filter(request_of_owner)]
    assert not {NEW, "new_at"} & {*names}
    assert not page.lookup_allowed("new_at__gte", "2026", request_of_owner)


def test_in_a_new_field_nothing_is_searched(page: Any, request_of_owner: Any) -> None:
    assert f"={NEW}" not in page.get_search_fields(request_of_owner)


def test_new_parts_and_new_related_rows_are_beside_no_row(page: Any, request_of_owner: Any) -> None:
    assert not any(isinstance(part, NewPart) for part in page.all_parts)
    assert not any(isinstance(rows, NewRows) for rows in page.get_inline_instances(request_of_owner))


@pytest.mark.parametrize("model", [ApprovalRequest, OperatorAction, AssistantCall])
def test_no_search_finds_what_the_staff_wrote(model: Any) -> None:
    assert "note" not in merchant_site.get_model_admin(model).search_fields

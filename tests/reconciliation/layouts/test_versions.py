"""Versions of layouts: two people make one, in their order, and none is ever changed."""

import pytest
from django.db import IntegrityError, transaction

from payments.domain.approvals import decide
from payments.domain.operators.four_eyes import Refused
from payments.domain.reconciliation import file_layouts
from payments.models import ApprovalRequest, AuditEntry, FileLayout
from tests.operators.factories import NOTE, person
from tests.reconciliation.layouts.stories import LAYOUT, layout_in_force, requested_layout

pytestmark = pytest.mark.django_db


def test_an_approval_puts_the_version_in_force_that_was_asked_for() -> None:
    request = requested_layout("adyen")
    assert file_layouts.in_force("adyen") is None
    decide.approve(request, person("ben", "finance"), NOTE)
    layout = file_layouts.in_force("adyen")
    assert layout
    assert (layout.request, layout.version, layout.settings) == (request, 1, LAYOUT.as_json())
    entry = AuditEntry.objects.about(layout).get()
    assert entry.action == "added"
    assert entry.detail.startswith("adyen, version 1: Their reference: Payment ID")
    said = AuditEntry.objects.about(request).order_by("id").values_list("action", flat=True)
    assert [*said] == ["proposed", "approved"]


def test_of_two_requests_the_later_approval_is_overtaken_and_nothing_is_changed() -> None:
    first, second = requested_layout(), requested_layout(proposed_by=person("cleo", "finance"))
    decide.approve(second, person("ben", "finance"), NOTE)
    with pytest.raises(Refused, match="Another version came since this was requested"):
        decide.approve(first, person("ben", "finance"), NOTE)
    first.refresh_from_db()
    assert (first.state, FileLayout.objects.get().request) == ("proposed", second)
    with pytest.raises(file_layouts.Overtaken):
        requested_layout(version=1)
    assert layout_in_force(version=2, decimal=".").version == 2


@pytest.mark.parametrize(
    ("account", "columns", "why"),
    [("nobody", LAYOUT.columns, "no account of this name"), ("adyen", {}, "the column of the date")],
)
def test_what_reads_no_file_is_not_asked_for(account: str, columns: dict[str, str], why: str) -> None:
    settings = LAYOUT.as_json() | {"columns": columns}
    with pytest.raises(ValueError, match=why):
        requested_layout(account, layout=LAYOUT.from_json(settings))
    assert not ApprovalRequest.objects.exists()


def test_the_database_never_changes_or_deletes_a_version() -> None:
    layout_in_force()
    for act in (lambda: FileLayout.objects.update(version=7), FileLayout.objects.all().delete):
        with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
            act()

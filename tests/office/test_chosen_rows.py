"""What stands below a list once rows are chosen."""

import csv

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import expect

from payments.admin.lists import file, page
from tests.factories import ChargeFactory
from tests.office.tabs import Office

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LIST = "admin:payments_charge_changelist"


def test_the_bar_counts_sums_and_says_what_is_not_possible(office: Office) -> None:
    merchant = ChargeFactory(is_held=True, amount=507_200).merchant
    ChargeFactory(is_held=True, amount=240_000, merchant=merchant)
    ChargeFactory(is_failed=True, amount=4_800, currency="USD", merchant=merchant)
    tab = office.tab_of("superuser", "ana")
    tab.goto(reverse(LIST) + "?mode=test")
    bar = tab.get_by_role("group", name="What to do with the chosen")
    expect(bar).to_be_hidden()
    for box in tab.locator(".action-select").all():
        box.check()
    expect(bar).to_contain_text("3 chosen, USD 48.00, ₱7,472.00")
    expect(bar).to_contain_text("Capture, Release the hold")
    expect(bar).to_contain_text("2 of 3. Not possible for")
    expect(bar).to_contain_text("(declined)")
    expect(bar.get_by_role("button", name="Refund")).to_be_hidden()
    bar.get_by_role("button", name="Capture 2").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Capture ₱7,472.00, 2 charges?")
    expect(tab.get_by_role("button", name="Capture ₱7,472.00")).to_be_visible()


def test_what_allows_nothing_says_so_and_is_cleared(office: Office) -> None:
    ChargeFactory(is_failed=True)
    tab = office.tab_of("superuser", "ana")
    tab.goto(reverse(LIST) + "?mode=test")
    tab.locator(".action-select").check()
    bar = tab.get_by_role("group", name="What to do with the chosen")
    expect(bar).to_contain_text("Refund, Void: not possible for")
    expect(bar.get_by_role("button", name="Export 1")).to_be_visible()
    bar.get_by_role("button", name="Clear").click()
    expect(bar).to_be_hidden()


def test_the_file_of_a_list_says_how_many_rows_it_has(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "MOST_ROWS", 3)
    monkeypatch.setattr(page, "ROWS_AT_ONCE", 1)
    ChargeFactory.create_batch(4, is_held=True, description='Two\n"ripe"\nmangoes')
    tab = office.tab_of("superuser", "ana")
    tab.goto(reverse(LIST) + "?mode=test")
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Export as CSV").click()
    expect(tab.locator(".export-bar").get_by_role("status")).to_have_text("The file has 3 rows.")
    _, *rows, cut = csv.reader(download.value.path().open(newline=""))
    assert (len(rows), cut) == (3, ["Cut after 3 rows: narrow the list by its filters."])


def test_a_file_that_is_refused_says_so_and_does_not_only_blink(office: Office) -> None:
    tab = office.tab_of("superuser", "ana")
    tab.goto(reverse(LIST) + "?mode=test")
    User.objects.update(is_superuser=False)
    tab.get_by_role("button", name="Export as CSV").click()
    expect(tab.locator(".export-bar").get_by_role("status")).to_contain_text("The download stopped after 0 rows.")
    assert "403" in office.complaints.pop()

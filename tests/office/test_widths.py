"""No table of the office is cut on a screen of 1440 pixels."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse
from playwright.sync_api import Page

from payments.models import (
    Account,
    Charge,
    Checkout,
    Dispute,
    LedgerDay,
    Merchant,
    Payout,
    ProviderMessage,
    ReconciliationRun,
    Refund,
    Settlement,
    Statement,
)
from tests.approvals.factories import requested_key
from tests.office.tabs import PHONE, Office, main_pages

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.django_db(transaction=True)]

WITH_TABLES = (Account, LedgerDay, Merchant, ProviderMessage, ReconciliationRun, Statement)
SCREEN = {"width": 1440, "height": 900}
# Wider than the box that it scrolls or is hidden in, or than the screen.
CUT_TABLES = """() => [...document.querySelectorAll("table")].filter(table => {
  for (let box = table.parentElement; box; box = box.parentElement)
    if (getComputedStyle(box).overflowX !== "visible" && table.scrollWidth > box.clientWidth) return true;
  return table.getBoundingClientRect().right > document.documentElement.clientWidth;
}).map(table => table.id || table.innerText.slice(0, 60))"""


def test_no_table_is_cut_on_a_screen(office: Office) -> None:
    call_command("seed_demo", charges=50, merchants=2, verbosity=0)
    requested_key(Merchant.objects.earliest("pk"))
    for user in User.objects.all():
        User.objects.filter(pk=user.pk).update(username=f"{user.username}.of-the-back-office")
    tab = office.tab_of("superuser", "ana", viewport=SCREEN)
    cut = {}
    for address in _addresses(tab):
        answer = tab.goto(address, wait_until="domcontentloaded")
        assert answer
        assert answer.ok, address
        cut[address] = tab.evaluate(CUT_TABLES)
    assert {address: tables for address, tables in cut.items() if tables} == {}


# An amount that ends beyond the box that it is hidden in, or beyond the screen.
CUT_AMOUNTS = """() => {
  const cut = [], texts = document.createTreeWalker(document.querySelector("#content"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (!/(₱|[A-Z]{3}\\s)\\d/.test(texts.currentNode.textContent)) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    const {left, right, width} = range.getBoundingClientRect();
    // A column that a phone leaves out has no width.
    for (let box = width && texts.currentNode.parentElement; box; box = box.parentElement) {
      const {left: from, right: to} = box.getBoundingClientRect();
      if (getComputedStyle(box).overflowX !== "visible" && (right > to + 1 || left < from - 1))
        cut.push(texts.currentNode.textContent.trim());
    }
  }
  return cut;
}"""


def test_no_amount_of_a_list_is_cut_on_a_phone(office: Office) -> None:
    call_command("seed_demo", charges=50, merchants=2, verbosity=0)
    tab = office.tab_of("superuser", "ana", viewport=PHONE)
    cut = {}
    for model in (Charge, Refund, Dispute, Payout, Settlement, Checkout):
        address = reverse(f"admin:payments_{model._meta.model_name}_changelist")
        tab.goto(f"{address}?mode=test", wait_until="domcontentloaded")
        cut[address] = tab.evaluate(CUT_AMOUNTS)
    assert {address: amounts for address, amounts in cut.items() if amounts} == {}


def _addresses(tab: Page) -> Iterator[str]:
    """Yield the pages with much on them, and each list; of those with tables also the page of its first row."""
    yield from main_pages().values()
    for model in admin.site._registry:
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        yield address
        if model not in WITH_TABLES:
            continue
        yield from tab.locator("#result_list tbody a[href*='/change/']").evaluate_all(
            "links => links.slice(0, 1).map(link => link.pathname)"
        )

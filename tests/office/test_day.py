"""An operator's day in a real browser: once with the mouse, and once by the keyboard alone."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from payments.models import Charge, OperatorAction, Webhook
from tests.client import Api
from tests.office.conftest import Work
from tests.office.tabs import HANDS, Hand, Office, announced

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WHY = "They asked for it, ticket 7"


@pytest.fixture(params=HANDS)
def hand(request: pytest.FixtureRequest) -> Hand:
    return HANDS[request.param]()


def find(tab: Page, hand: Hand, term: str) -> None:
    """By the box that is on every page."""
    tab.goto("/admin/")
    hand.write(tab.get_by_role("searchbox", name="Find"), term)
    hand.press(tab.get_by_role("button", name="Find"))
    expect(tab.get_by_role("main").get_by_title(term).first).to_be_visible()


def give_reason(tab: Page, hand: Hand) -> None:
    hand.write(tab.get_by_label("Why"), WHY)


def test_a_held_charge_is_found_and_a_part_of_it_captured(office: Office, work: Work, api: Api, hand: Hand) -> None:
    tab = office.tab_of("finance", "lourdes")
    tab.goto("/admin/payments/charge/")
    hand.press(tab.locator("summary", has_text="State"))
    hand.press(tab.get_by_role("link", name="Held", exact=True))
    hand.press(tab.get_by_role("row", name="Charter, three days").get_by_role("link"))
    hand.press(tab.get_by_role("link", name="Capture"))
    hand.write(tab.get_by_label("Amount"), "60,000.00")
    give_reason(tab, hand)
    hand.press(tab.get_by_role("button", name="Update"))
    expect(tab.get_by_text("₱60,000.00 is taken from the payer")).to_be_visible()
    hand.press(tab.get_by_role("button", name="Capture ₱60,000.00"))
    expect(announced(tab)).to_contain_text("is captured from")
    assert api.read(work.held)["amount_captured"] == 6_000_000


def test_a_large_refund_is_asked_for_by_one_and_approved_by_another(
    office: Office, work: Work, api: Api, hand: Hand
) -> None:
    lourdes = office.tab_of("finance", "lourdes")
    find(lourdes, hand, work.taken["id"])
    hand.press(lourdes.get_by_role("link", name="Refund", exact=True))
    hand.write(lourdes.get_by_label("Amount"), "120,000.00")
    give_reason(lourdes, hand)
    hand.press(lourdes.get_by_role("button", name="Update"))
    expect(lourdes.get_by_text("Another person must approve this")).to_be_visible()
    hand.press(lourdes.get_by_role("button", name="Ask for approval of ₱120,000.00"))
    expect(announced(lourdes)).to_contain_text("Another person must approve")
    assert api.read(work.taken)["amount_refunded"] == 0

    efren = office.tab_of("finance", "efren")
    efren.goto("/admin/")
    hand.press(efren.get_by_role("link", name="Inbox").first)
    hand.press(efren.get_by_role("link", name="Actions on charges"))
    hand.press(efren.locator("summary", has_text="Turn"))
    hand.press(efren.get_by_role("link", name="Waiting for me"))
    hand.press(efren.locator("#result_list tbody th a").first)
    expect(efren.get_by_text(WHY)).to_be_visible()
    hand.press(efren.get_by_role("link", name="Decide"))
    hand.write(efren.get_by_label("Why"), "Checked with the merchant")
    hand.press(efren.get_by_role("button", name="Approve"))
    expect(announced(efren)).to_contain_text("is sent back to")
    assert api.read(work.taken)["amount_refunded"] == 12_000_000
    act = OperatorAction.objects.get()
    assert (act.proposed_by.username, act.decided_by and act.decided_by.username) == ("lourdes", "efren")


def test_an_unknown_outcome_is_worked_off(office: Office, work: Work, hand: Hand) -> None:
    tab = office.tab_of("support", "maria")
    tab.goto("/admin/inbox/")
    hand.press(tab.get_by_role("link", name="Look up: Outcome of a payment unknown"))
    hand.press(tab.get_by_role("button", name="Look up now"))
    expect(announced(tab)).to_contain_text("The provider's answer: Approved")
    assert not Charge.objects.filter(status="pending").exists()


def test_a_webhook_that_was_given_up_is_sent_again(office: Office, work: Work, hand: Hand) -> None:
    tab = office.tab_of("support", "maria")
    tab.goto("/admin/inbox/")
    hand.press(tab.get_by_role("link", name="Send again: Webhook to").first)
    hand.press(tab.get_by_role("link", name="Send again"))
    give_reason(tab, hand)
    hand.press(tab.get_by_role("button", name="Send again"))
    expect(announced(tab)).to_contain_text("1 of 1 will be sent again now")
    assert Webhook.objects.filter(state="waiting").count() == 1


def test_a_narrowed_list_is_exported(office: Office, work: Work, hand: Hand, tmp_path: Path) -> None:
    tab = office.tab_of("support", "maria")
    tab.goto("/admin/payments/charge/")
    hand.press(tab.locator("summary", has_text="State"))
    hand.press(tab.get_by_role("link", name="Held", exact=True))
    with tab.expect_download() as download:
        hand.press(tab.get_by_role("button", name="Export as CSV"))
    download.value.save_as(tmp_path / "charges.csv")
    with (tmp_path / "charges.csv").open(encoding="utf-8-sig", newline="") as file:
        [row] = csv.DictReader(file)
    assert work.held["id"] in row.values()

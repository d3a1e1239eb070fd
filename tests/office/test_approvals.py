"""Two administrators in a browser each: one asks for a live key, the other approves it, the first takes it once."""

from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApprovalRequest, Merchant, PayoutFile
from tests.client import Api
from tests.office.conftest import Work
from tests.office.tabs import HANDS, PHONE, Hand, Office, announced
from tests.payouts.live import DEBTORS, NUMBER, live_account, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WHY = "The shop opens on Monday"


@pytest.fixture(params=HANDS)
def hand(request: pytest.FixtureRequest) -> Hand:
    return HANDS[request.param]()


def test_a_live_key_is_asked_for_by_one_approved_by_another_and_taken_once(
    office: Office, work: Work, hand: Hand
) -> None:
    merchant = Merchant.objects.latest("pk")
    lourdes, efren = office.tab_of("administrator", "lourdes"), office.tab_of("administrator", "efren")
    lourdes.goto(f"/admin/payments/merchant/{merchant.pk}/change/")
    hand.press(lourdes.get_by_role("link", name="Issue a key"))
    lourdes.get_by_role("combobox", name="Mode").select_option("live")
    lourdes.get_by_role("combobox", name="Kind").select_option("secret")
    hand.write(lourdes.get_by_label("Why"), WHY)
    hand.press(lourdes.get_by_role("button", name="Issue a key"))
    expect(announced(lourdes)).to_contain_text("Nothing is changed before somebody other than you approves it")
    expect(lourdes.get_by_role("button", name="Take the key")).to_have_count(0)

    efren.goto("/admin/")
    hand.press(efren.get_by_role("link", name="Inbox").first)
    hand.press(efren.get_by_role("link", name="Requests for approval"))
    hand.press(efren.get_by_role("link", name="Everything that waits for approval"))
    hand.press(efren.get_by_role("link", name="Issue a key: secret").last)
    expect(efren.get_by_text("can charge payers, capture, void and refund")).to_be_visible()
    expect(efren.get_by_text(WHY)).to_be_visible()
    hand.write(efren.get_by_label("Why"), "Asked the merchant by telephone")
    hand.press(efren.get_by_role("button", name="Approve"))
    expect(announced(efren)).to_contain_text("Approved")

    lourdes.reload()
    hand.press(lourdes.get_by_role("button", name="Take the key"))
    key = lourdes.locator("code").last.inner_text()
    assert Api(key).get("/me").status_code == 200
    hand.press(lourdes.get_by_role("link", name="I have stored them"))
    expect(lourdes.get_by_role("button", name="Take the key")).to_have_count(0)
    row = ApprovalRequest.objects.latest("pk")
    assert (row.state, row.proposed_by.username, row.decided_by and row.decided_by.username) == (
        "done",
        "lourdes",
        "efren",
    )


@pytest.fixture
def payouts(shop: NewMerchant, settings: Settings) -> None:
    settings.PAYOUT_DEBTOR_NAME, settings.PAYOUT_DEBTOR_ACCOUNTS = "Kaha Philippines Inc.", DEBTORS
    call_command("check_money", verbosity=0)
    account = live_account(shop.merchant)
    ready(account, 123_450), ready(account, 987_654)


@pytest.mark.usefixtures("payouts")
def test_a_file_is_made_and_downloaded_by_one_and_marked_as_sent_by_another(office: Office, tmp_path: Path) -> None:
    lourdes, efren = office.tab_of("finance", "lourdes"), office.tab_of("finance", "efren", viewport=PHONE)
    lourdes.goto("/admin/payments/payoutfile/")
    lourdes.get_by_role("link", name="Make a file").first.click()
    expect(lourdes.get_by_text("2 approved, ₱11,111.04")).to_be_visible()
    lourdes.get_by_label("Why").fill("Weekly run")
    lourdes.get_by_role("button", name="Make a file").click()
    expect(announced(lourdes)).to_contain_text("Made: 2 payouts, ₱11,111.04.")
    with lourdes.expect_download() as download:
        lourdes.get_by_role("button", name="Download").click()
    file = PayoutFile.objects.get()
    assert download.value.suggested_filename == file.name
    assert NUMBER in Path(download.value.path()).read_text()

    efren.goto(f"/admin/payments/payoutfile/{file.pk}/change/")
    efren.get_by_role("link", name="Mark as sent").click()
    efren.get_by_label("Why").fill("The bank shows 2 payments, 11,111.04")
    efren.get_by_role("button", name="Mark as sent").click()
    expect(announced(efren)).to_contain_text("Marked as sent: 2 payouts")
    assert efren.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    asked = ApprovalRequest.objects.get(subject_id=file.id)
    assert (str(asked.proposed_by), str(asked.decided_by)) == ("lourdes", "efren")

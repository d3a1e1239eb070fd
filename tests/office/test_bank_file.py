"""Finance makes and downloads a bank file in a browser, and another person marks it as sent."""

from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import PayoutFile
from tests.office.operator import announced
from tests.office.tabs import PHONE, Office
from tests.payouts.live import DEBTORS, NUMBER, live_account, ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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
    lourdes.get_by_role("link", name="Make a file").click()
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
    file.refresh_from_db()
    assert (str(file.created_by), str(file.sent_by)) == ("lourdes", "efren")

"""What the usual tasks of an office cost at most, in clicks and in fields, from the first page on."""

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Charge, Dispute, Merchant, Payout, PayoutFile
from payments.search.sweep import rebuild
from tests.checkout.cast import opened, shown
from tests.client import Api, made
from tests.disputes.stories import AT_ONCE, disputed
from tests.office.tabs import Counted, Office, announced
from tests.payouts.live import DEBTORS
from tests.payouts.setups import live_payout

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WHY = "Ticket 7"
MARIA = {"name": "Maria Santos"}


@pytest.fixture
def hand(transactional_db: None) -> Counted:
    # Without a check of the money each page has a message about it.
    call_command("check_money", verbosity=0)
    return Counted()


def paid(api: Api, amount: int = 125_000) -> dict[str, str]:
    return api.charge_source(api.source(owner=MARIA), amount, description="Linen dress")


def home_of(office: Office, role: str, name: str) -> Page:
    tab = office.tab_of(role, name)
    tab.goto("/admin/")
    return tab


def open_first(tab: Page, hand: Counted, term: str) -> None:
    """Search for `term`, and open the first payment that is found."""
    rebuild()
    hand.write(tab.get_by_role("searchbox", name="Find"), term)
    hand.press(tab.get_by_role("button", name="Find"))
    hand.press(tab.locator(".model-charge tbody th a").first)


def test_who_was_charged_twice_is_refunded_with_four_clicks_and_two_fields(
    office: Office, api: Api, hand: Counted
) -> None:
    paid(api), paid(api)
    tab = home_of(office, "support", "maria")
    open_first(tab, hand, "maria santos")
    expect(tab.get_by_text("Charged twice?")).to_be_visible()
    hand.press(tab.get_by_role("link", name="Refund", exact=True))
    hand.write(tab.get_by_label("Why"), WHY)
    expect(tab.get_by_label("Reason")).to_have_value("duplicate")
    hand.press(tab.get_by_role("button", name="Refund"))
    expect(announced(tab)).to_contain_text("is sent back to")
    assert sorted(Charge.objects.values_list("amount_refunded", flat=True)) == [0, 125_000]
    assert hand.clicks <= 4
    assert hand.fields <= 2


def test_where_a_refund_is_can_be_said_after_two_clicks(office: Office, api: Api, hand: Counted) -> None:
    made(api.post(f"/charges/{paid(api)['id']}/refund", {}))
    tab = home_of(office, "support", "maria")
    open_first(tab, hand, "santos")
    expect(tab.get_by_text("was sent back on").first).to_be_visible()
    assert hand.clicks <= 2


def test_a_dispute_is_answered_with_two_pieces_of_evidence_with_six_clicks(
    office: Office, api: Api, hand: Counted
) -> None:
    disputed(api, AT_ONCE)
    tab = home_of(office, "support", "maria")
    hand.press(tab.get_by_role("link", name="Answer: Disputed"))
    hand.write(tab.get_by_label("Text"), "Signed for by Juan")
    hand.write(tab.get_by_label("Why"), WHY)
    hand.press(tab.get_by_role("button", name="Add evidence"))
    hand.press(tab.get_by_role("link", name="Add evidence"))
    tab.get_by_label("Type").select_option("service_documentation")
    hand.write(tab.get_by_label("Text"), "Delivered on Monday")
    hand.write(tab.get_by_label("Why"), WHY)
    hand.press(tab.get_by_label("Submit all evidence now"))
    hand.press(tab.get_by_role("button", name="Add evidence"))
    expect(announced(tab)).to_contain_text("on its way")
    assert Dispute.objects.get().evidence.count() == 2
    assert hand.clicks <= 6


def test_a_payout_that_is_due_is_sent_by_two_people_with_six_clicks(
    office: Office, shop: NewMerchant, settings: Settings, hand: Counted
) -> None:
    settings.PAYOUT_DEBTOR_NAME, settings.PAYOUT_DEBTOR_ACCOUNTS = "Kaha Philippines Inc.", DEBTORS
    live_payout(shop.merchant, 123_450)
    lourdes = home_of(office, "finance", "lourdes")
    hand.press(lourdes.get_by_role("link", name="Approve: Payout waits for approval"))
    hand.write(lourdes.get_by_label("Why"), WHY)
    hand.press(lourdes.get_by_role("button", name="Approve the payout"))
    expect(announced(lourdes)).to_contain_text("Approved")

    efren = home_of(office, "finance", "efren")
    hand.press(efren.get_by_role("link", name="Make a file").first)
    hand.write(efren.get_by_label("Why"), WHY)
    with efren.expect_download() as download:
        hand.press(efren.get_by_role("button", name="Make and download"))
    assert download.value.suggested_filename == PayoutFile.objects.get().name

    lourdes.goto("/admin/")
    hand.press(lourdes.get_by_role("link", name="Review: Request to send a bank file"))
    hand.write(lourdes.get_by_label("Why"), WHY)
    hand.press(lourdes.get_by_role("button", name="Approve"))
    expect(announced(lourdes)).to_contain_text("Approved and done.")
    assert Payout.objects.get().status == "in_transit"
    assert hand.clicks <= 6


def test_a_new_merchant_has_a_test_payment_after_eight_clicks_and_eight_fields(
    office: Office, shop: NewMerchant, settings: Settings, hand: Counted
) -> None:
    settings.PUBLIC_URL = office.url
    tab = home_of(office, "administrator", "ana")
    hand.press(tab.get_by_role("link", name="Merchants", exact=True))
    hand.press(tab.get_by_role("link", name="Add merchant"))
    hand.write(tab.get_by_label("Title"), "Kape Batangas")
    hand.write(tab.get_by_label("Why"), WHY)
    hand.press(tab.get_by_role("button", name="Create the merchant"))
    key = tab.locator("code", has_text="sk_test_").text_content()
    assert key
    # The merchant's program opens a session with the key, and its payer follows the address.
    api = Api(key)
    session = opened(api, success_url=f"{office.url}/docs")
    tab.goto(session["payment_url"])
    fields = {"Card number": "4000000000003055", "Expiry": "0839", "CVC": "123", "Name on card": "Maria Santos"}
    for label, text in fields.items():
        hand.write(tab.get_by_label(label), text)
    hand.press(tab.get_by_role("button", name="Pay ₱250.00"))
    expect(tab).to_have_url(f"{office.url}/docs")
    assert shown(api, session)["payment_status"] == "paid"
    assert Merchant.objects.get(title="Kape Batangas")
    assert hand.clicks <= 8
    assert hand.fields <= 8


def test_a_callers_vague_story_is_found_with_three_clicks(office: Office, api: Api, hand: Counted) -> None:
    paid(api, 99_000), paid(api, 300_000)
    tab = home_of(office, "support", "maria")
    open_first(tab, hand, "sant 900..1000 today")
    expect(tab.get_by_role("heading", name="₱990.00 from Maria Santos")).to_be_visible()
    assert hand.clicks <= 3

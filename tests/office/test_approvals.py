"""Two administrators in a browser each: one asks for a live key, the other approves it, the first takes it once."""

import pytest
from playwright.sync_api import expect

from payments.models import ApprovalRequest, Merchant
from tests.client import Api
from tests.office.conftest import Work
from tests.office.operator import HANDS, Hand, announced
from tests.office.tabs import Office

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
    hand.press(lourdes.get_by_role("link", name="I have copied it"))
    expect(lourdes.get_by_role("button", name="Take the key")).to_have_count(0)
    row = ApprovalRequest.objects.latest("pk")
    assert (row.state, row.proposed_by.username, row.decided_by and row.decided_by.username) == (
        "done",
        "lourdes",
        "efren",
    )

"""Both steps in a real browser, on a screen and on a phone: a layout is made without a word typed but the reason."""

import pytest

from payments.models import ApprovalRequest
from tests.office.tabs import PHONE, Office
from tests.pages.axe import grave_faults
from tests.reconciliation.layouts.stories import COLUMNS, xlsx_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCREEN = {"width": 1200, "height": 900}


@pytest.mark.parametrize("viewport", [SCREEN, PHONE], ids=["screen", "phone"])
def test_a_layout_is_made_of_an_example(viewport: dict[str, int], office: Office) -> None:
    tab = office.tab_of("finance", "maria", viewport=viewport, bypass_csp=True)
    tab.goto("/admin/payments/filelayout/")
    tab.get_by_role("link", name="Make a layout").last.click()
    tab.get_by_label("Provider or bank account").select_option("adyen")
    content = {"name": "november.xlsx", "mimeType": "application/octet-stream", "buffer": xlsx_of("a", "b")}
    tab.get_by_label("Example").set_input_files(content)
    tab.get_by_role("button", name="Continue").click()
    assert tab.get_by_label("Amount").input_value() == "Betrag"
    tab.get_by_role("button", name="Preview").click()
    tab.get_by_text("Every row can be read").wait_for()
    assert grave_faults(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    tab.get_by_label("Why").fill("Their new file")
    tab.get_by_role("button", name="Ask for approval").click()
    tab.get_by_text("Another operator approves or rejects it").wait_for()
    asked = ApprovalRequest.objects.get().after["settings"]
    assert asked["columns"] == {role.value: name for role, name in COLUMNS.items()}

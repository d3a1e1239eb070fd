"""axe finds nothing serious on the main pages, in both colour schemes and on a phone."""

import pytest

from tests.office.conftest import Work
from tests.office.tabs import PHONE, WAYS, Office, main_pages
from tests.pages.axe import grave_faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("way", WAYS)
def test_the_main_pages_are_accessible(way: str, office: Office, work: Work) -> None:
    # What axe puts into a page is not the page's own.
    tab = office.tab_of("superuser", "admin", bypass_csp=True, **WAYS[way])
    found = {}
    for name, address in main_pages().items():
        tab.goto(address)
        found[name] = grave_faults(tab)
    assert {name: findings for name, findings in found.items() if findings} == {}


def test_no_page_is_wider_than_a_phone(office: Office, work: Work) -> None:
    tab = office.tab_of("superuser", "admin", viewport=PHONE)
    widths = {}
    for name, address in main_pages().items():
        tab.goto(address)
        widths[name] = tab.evaluate("document.documentElement.scrollWidth")
    assert {name: width for name, width in widths.items() if width > PHONE["width"]} == {}


def test_the_menu_of_a_phone_opens_and_leads_on(office: Office, work: Work) -> None:
    tab = office.tab_of("superuser", "admin", viewport=PHONE)
    tab.goto("/admin/")
    tab.get_by_role("button", name="Menu").click()
    tab.get_by_role("navigation", name="Main").get_by_role("link", name="Payments", exact=True).click()
    # The link of a row lies over all of it.
    tab.get_by_text("Charter, three days").click(force=True)
    tab.get_by_role("link", name="Capture").wait_for()

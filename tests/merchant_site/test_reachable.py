"""Every page that a role may open is found by links from its home."""

import pytest

from tests.admin.conftest import House
from tests.admin.crawl import ELSEWHERE, found_from, openable
from tests.admin.test_pages import newest as newest_shown  # noqa: F401  one of everything
from tests.client import signed_in
from tests.merchant_site.conftest import Role, member
from tests.merchant_site.test_walls import PREFIX, URLCONF, Rows, addresses, of_rows, rows  # noqa: F401

pytestmark = pytest.mark.long


@pytest.mark.parametrize("role", Role.values)
def test_every_page_that_a_role_may_open_is_found_by_links(role: str, rows: Rows, house: House) -> None:  # noqa: F811
    client = signed_in(member(house.shop.merchant, role))
    # An action is offered where it fits its row.
    actions = {address for address in of_rows(rows) if not address.endswith("/change/")}
    may_open = openable(client, set(addresses(rows)) - actions, URLCONF)
    assert len(may_open) > 15
    assert may_open - found_from(client, PREFIX, URLCONF) - ELSEWHERE == set()


def test_settings_lead_to_colleagues_and_limits(house: House) -> None:
    client = signed_in(member(house.shop.merchant))
    page = client.get(f"{PREFIX}payments/merchant/", follow=True).content.decode()
    for name in ("merchantaccess", "approvallimit"):
        assert f'href="{PREFIX}payments/{name}/"' in page
    assert f'<a class="back" href="{PREFIX}payments/merchant/">' not in page

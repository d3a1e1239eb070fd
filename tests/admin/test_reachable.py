"""Every page that a role of operators may open is found by links from its home."""

from collections.abc import Mapping

import pytest
from django.db.models import Model

from payments.staff.roles import ROLES
from tests.admin.crawl import ELSEWHERE, found_from, openable
from tests.admin.forms import addresses
from tests.admin.test_pages import newest  # noqa: F401  one of everything
from tests.client import signed_in
from tests.operators.factories import person

pytestmark = pytest.mark.long
URLCONF = "config.urls"


@pytest.mark.parametrize("role", ROLES)
def test_every_page_that_a_role_may_open_is_found_by_links(
    role: str,
    newest: Mapping[type[Model], Model],  # noqa: F811
) -> None:
    client = signed_in(person("ana", role))
    keys = {f"/{row.pk}/" for row in newest.values()}
    named = [address for address in addresses(newest) if "?" not in address]
    actions = {one for one in named if not one.endswith("/change/") and any(key in one for key in keys)}
    may_open = openable(client, set(named) - actions, URLCONF)
    assert len(may_open) > 15
    assert may_open - found_from(client, "/admin/", URLCONF) - ELSEWHERE == set()

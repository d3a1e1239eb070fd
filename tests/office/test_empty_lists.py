"""A list without rows says what will be in it, and leads on; one that filters leave empty leads back to all."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from payments.domain.merchants.merchants import NewMerchant
from payments.merchant_site.site import merchant_site
from tests.admin.conftest import text_of
from tests.client import signed_in
from tests.merchant_site.conftest import member

STEP = re.compile(r'class="nothing">.*?<h2>(.*?)</h2>.*?<a class="button[^"]*" href="([^"]+)"', re.DOTALL)


@pytest.mark.parametrize(("site", "path"), [(admin.site, "/admin"), (merchant_site, "/merchant")])
def test_each_empty_list_leads_on(site: Any, path: str, shop: NewMerchant, admin_client: Client) -> None:
    client = admin_client if site is admin.site else signed_in(member(shop.merchant))
    empty = 0
    for model in site._registry:
        address = f"{path}/{model._meta.app_label}/{model._meta.model_name}/"
        page = text_of(client.get(address, follow=True))
        if 'id="changelist"' not in page or 'id="result_list"' in page:
            continue
        title, onward = STEP.search(page).groups()  # type: ignore[union-attr]
        assert (title.startswith("No "), title.endswith(" yet")) == (True, True), address
        assert client.get(onward, follow=True).status_code == 200, address
        if 'id="searchbar"' in page:
            title, onward = STEP.search(text_of(client.get(address, {"q": "nobody"}))).groups()  # type: ignore[union-attr]
            assert (title, onward) == ("Nothing found for “nobody”", "?"), address
        empty += 1
    assert empty > 12

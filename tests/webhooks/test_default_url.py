"""Where events go whose source has no notify URL: to the default of the merchant, if it has one."""

import pytest

from payments import clock
from payments.domain.charging.expiry import void_expired_holds
from payments.domain.merchants import notify_urls
from payments.domain.merchants.merchants import NewMerchant
from payments.models import AuditEntry, Charge, Webhook
from payments.webhooks.transport.urls import ForbiddenUrl
from tests.client import Api

URL, OTHER = "https://shop.example/default", "https://shop.example/own"
OWN = {"success": "https://shop.example/yes", "fail": "https://shop.example/no", "notify": OTHER}


@pytest.fixture
def with_default(shop: NewMerchant) -> NewMerchant:
    """Give the shop a default URL in test mode."""
    notify_urls.set_default(shop.merchant, URL, livemode=False)
    return shop


def called() -> list[tuple[str, str]]:
    """Return the type and URL of each webhook in the order of the changes."""
    return list(Webhook.objects.order_by("event_id").values_list("event__type", "url"))


def test_events_of_a_source_without_a_url_go_to_the_default(with_default: NewMerchant, api: Api) -> None:
    api.charge()
    assert called() == [("charge.created", URL), ("charge.succeeded", URL)]


def test_the_url_of_the_source_wins(with_default: NewMerchant, api: Api) -> None:
    api.charge_source(api.source(redirect=OWN))
    assert {url for _, url in called()} == {OTHER}


def test_a_source_that_has_a_redirect_without_a_url_uses_the_default(with_default: NewMerchant, api: Api) -> None:
    redirect = {name: url for name, url in OWN.items() if name != "notify"}
    api.charge_source(api.source(redirect=redirect))
    assert {url for _, url in called()} == {URL}


def test_the_default_of_the_other_mode_is_not_used(shop: NewMerchant, api: Api) -> None:
    notify_urls.set_default(shop.merchant, URL, livemode=True)
    api.charge()
    assert called() == []


def test_the_default_of_another_merchant_is_not_used(with_default: NewMerchant, other_shop: NewMerchant) -> None:
    Api(other_shop.keys["sk_test"]).charge()
    assert called() == []


def test_what_the_worker_changes_goes_to_the_default_too(with_default: NewMerchant, api: Api) -> None:
    charge = api.charge(capture=False)
    Charge.objects.filter().update(hold_expires_at=clock.now())
    before = len(called())
    void_expired_holds()
    assert api.read(charge)["status"] == "voided"
    assert called()[before:] == [("charge.updated", URL)]


def test_a_default_that_is_removed_is_used_no_more(with_default: NewMerchant, api: Api) -> None:
    notify_urls.set_default(with_default.merchant, "", livemode=False)
    api.charge()
    assert called() == [("organization.updated", URL)]
    entry = AuditEntry.objects.latest("id")
    assert (entry.fields, entry.detail) == (["notify_urls"], f"test mode: {URL} → not set")


@pytest.mark.parametrize(
    ("url", "livemode"), [("http://shop.example/", True), ("https://10.0.0.1/", False), ("shop.example", False)]
)
def test_a_default_to_which_nothing_may_be_sent_is_refused(url: str, livemode: bool, shop: NewMerchant) -> None:
    with pytest.raises(ForbiddenUrl):
        notify_urls.set_default(shop.merchant, url, livemode)
    shop.merchant.refresh_from_db()
    assert shop.merchant.notify_urls == {}

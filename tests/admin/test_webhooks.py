"""What providers told, as operators look at it."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from payments.domain.merchants import NewMerchant
from payments.models import Attempt, MerchantAccess
from tests.admin.conftest import text_of, words_of
from tests.client import Api
from tests.webhooks.making import a_webhook

LIST = "/admin/payments/webhook/"
pytestmark = pytest.mark.django_db


def test_the_page_shows_what_came_without_secrets_and_what_became_of_it(shop: NewMerchant, operator: Client) -> None:
    webhook = a_webhook(shop.merchant, b'{"number": "4000000000003055", "event": "payment.capture"}')
    page = words_of(operator.get(f"{LIST}{webhook.pk}/change/"))
    for shown in ("Our account", "payment.capture", "needs attention", "Nobody knows it", "live"):
        assert shown in page
    assert "4000000000003055" not in page


def test_a_report_of_an_attempt_leads_to_it(api: Api, shop: NewMerchant, operator: Client) -> None:
    api.charge()
    attempt = Attempt.objects.get()
    webhook = a_webhook(shop.merchant, reference=attempt.reference)
    page = text_of(operator.get(f"{LIST}{webhook.pk}/change/"))
    assert f'href="/admin/payments/attempt/{attempt.pk}/change/"' in page


@pytest.mark.parametrize(
    ("standing", "found"),
    [("attention", ["first"]), ("waiting", ["second"]), ("", ["first", "second", "third"])],
)
def test_the_list_is_narrowed_to_what_needs_attention(
    shop: NewMerchant, operator: Client, standing: str, found: list[str]
) -> None:
    webhooks = {
        "first": a_webhook(shop.merchant, b"1"),
        "second": a_webhook(shop.merchant, b"2", state="waiting", why="", due_at="2026-11-21T00:00:00Z"),
        "third": a_webhook(shop.merchant, b"3", state="applied", why=""),
    }
    page = text_of(operator.get(LIST, {"standing": standing} if standing else {}))
    assert [name for name, webhook in webhooks.items() if f"{webhook.pk}/change/" in page] == found


SEARCHES: dict[str, Callable[[Api], str]] = {
    "its charge": lambda api: f"ch_{Attempt.objects.get().charge_id.hex}",
    "our reference": lambda api: Attempt.objects.get().reference,
    "the provider's mark": lambda api: "evt-77",
}


@pytest.mark.parametrize("term", SEARCHES)
def test_a_webhook_is_found_by_what_it_is_about(api: Api, shop: NewMerchant, operator: Client, term: str) -> None:
    api.charge()
    wanted = a_webhook(shop.merchant, b"1", reference=Attempt.objects.get().reference, key="evt-77")
    other = a_webhook(shop.merchant, b"2")
    page = text_of(operator.get(LIST, {"q": SEARCHES[term](api)}))
    assert (str(wanted.pk) in page, str(other.pk) in page) == (True, False)


def test_an_operator_of_another_merchant_sees_nothing_of_it(shop: NewMerchant, other_shop: NewMerchant) -> None:
    webhook = a_webhook(shop.merchant)
    ana, client = User.objects.create(username="ana", is_staff=True), Client()
    ana.user_permissions.add(Permission.objects.get(codename="view_webhook"))
    MerchantAccess.objects.create(operator=ana, merchant=other_shop.merchant)
    client.force_login(ana)
    assert str(webhook.pk) not in text_of(client.get(LIST))
    assert client.get(f"{LIST}{webhook.pk}/change/").status_code != 200


def test_the_first_page_counts_those_that_need_attention(shop: NewMerchant, operator: Client) -> None:
    a_webhook(shop.merchant)
    assert "Webhooks that need attention 1" in words_of(operator.get("/admin/", {"mode": "live"}))
    assert "Webhooks that need attention 0" in words_of(operator.get("/admin/", {"mode": "test"}))

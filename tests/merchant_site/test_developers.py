"""What a merchant's developers do by themselves: keys, endpoints, webhooks, events and requests."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from payments.domain.merchants.merchants import NewMerchant
from payments.ids import public_id
from payments.models import (
    ApiKey,
    ApiRequest,
    ApprovalRequest,
    AuditEntry,
    Event,
    Webhook,
    WebhookAttempt,
    WebhookEndpoint,
)
from tests.admin.actions import once
from tests.admin.conftest import House, words_of
from tests.client import Api, signed_in
from tests.merchant_site.conftest import Role, member

KEYS, ENDPOINTS = "/merchant/payments/apikey/", "/merchant/payments/webhookendpoint/"
TEST_KEY = {"name": "web shop", "mode": "test", "kind": "secret", "reason": "New shop"}
ENDPOINT = {"mode": "test", "url": "https://sari.example/hook", "events": ["*"], "reason": "New shop"}
IDS = re.compile(r"…?[0-9a-f]{4,}")


@pytest.fixture
def developer(shop: NewMerchant) -> Client:
    return signed_in(member(shop.merchant, Role.DEVELOPER))


def test_a_developer_makes_a_test_key_which_works_and_is_shown_once(developer: Client) -> None:
    form = TEST_KEY | once(developer)
    assert "Why" not in words_of(developer.get(f"{KEYS}add/"))
    text = words_of(developer.post(f"{KEYS}add/", form))
    key = re.findall(r"sk_test_\w+", text)[0]
    assert Api(key).get("/me").status_code == 200
    assert key not in words_of(developer.post(f"{KEYS}add/", form, follow=True))
    assert "web shop" in words_of(developer.get(KEYS))


def test_a_live_key_that_moves_money_is_requested(developer: Client) -> None:
    before = ApiKey.objects.count()
    assert "an owner other than you, or kaha," in words_of(developer.get(f"{KEYS}add/"))
    form = TEST_KEY | once(developer) | {"mode": "live"}
    answer = developer.post(f"{KEYS}add/", form)
    asked = ApprovalRequest.objects.get()
    assert str(asked.pk) in words_of(developer.get(answer["Location"])) + answer["Location"]
    assert (asked.kind, asked.state, ApiKey.objects.count()) == ("issue_key", "proposed", before)


def test_a_key_is_rolled_and_revoked(developer: Client, shop: NewMerchant) -> None:
    key = ApiKey.objects.get(merchant=shop.merchant, livemode=False, kind="secret")
    form = {"hours": 1, "reason": "Leak"} | once(developer)
    assert "sk_test_" in words_of(developer.post(f"{KEYS}{key.pk}/roll/", form))
    developer.post(f"{KEYS}{key.pk}/revoke/", {"reason": "Leak"})
    key.refresh_from_db()
    assert None not in (key.revoked_at, key.expires_at)


def test_an_endpoint_is_made_with_its_secret_paused_and_gone(developer: Client) -> None:
    assert "whsec_" in words_of(developer.post(f"{ENDPOINTS}add/", ENDPOINT | once(developer)))
    endpoint = WebhookEndpoint.objects.get()
    assert "/hook" in words_of(developer.get(ENDPOINTS))
    assert "/hook" in words_of(developer.get(f"{ENDPOINTS}{endpoint.pk}/change/"))
    for act in ("pause", "disable", "delete"):
        developer.post(f"{ENDPOINTS}{endpoint.pk}/{act}-endpoint/", {"reason": "Moved"})
    endpoint.refresh_from_db()
    assert endpoint.status == "deleted"
    assert developer.get(f"{ENDPOINTS}{endpoint.pk}/change/").status_code == 404


def test_a_webhook_is_sent_again(developer: Client, house: House) -> None:
    webhook = Webhook.objects.filter(event__object_id__isnull=False).latest("id")
    Webhook.objects.filter(pk=webhook.pk).update(state="exhausted", due_at=None)
    address = f"/merchant/payments/webhook/{webhook.pk}/"
    assert webhook.event.type in words_of(developer.get("/merchant/payments/webhook/"))
    assert webhook.event.type in words_of(developer.get(f"{address}change/"))
    developer.post(f"{address}send-again/", {"reason": "Repaired"})
    webhook.refresh_from_db()
    assert (webhook.state, webhook.due_at is not None) == ("waiting", True)


def test_an_event_shows_what_was_sent(developer: Client, house: House) -> None:
    event = Event.objects.filter(type="charge.created").latest("id")
    assert "charge.created" in words_of(developer.get("/merchant/payments/event/"))
    assert "Halo-halo" in words_of(developer.get(f"/merchant/payments/event/{event.pk}/change/"))


def test_a_request_shows_its_answer_and_what_it_caused(developer: Client, house: House) -> None:
    event = Event.objects.filter(type="charge.created").latest("id")
    key = ApiKey.objects.filter(merchant=house.shop.merchant, livemode=False).latest("id")
    row = ApiRequest.objects.create(
        **{"request_id": event.request_id, "merchant": house.shop.merchant, "livemode": False, "api_key": key},
        **{"method": "POST", "path": "/v2/charges", "status": 201, "milliseconds": 12, "created_at": timezone.now()},
        **{"asked": '{"amount": 100}', "answered": '{"status": "succeeded"}'},
    )
    named = public_id("req", event.request_id)
    assert "/v2/charges" in words_of(developer.get("/merchant/payments/apirequest/", {"q": named}))
    text = words_of(developer.get(f"/merchant/payments/apirequest/{row.pk}/change/"))
    assert "charge.created" in text
    assert "12 ms" in text
    assert "What was sent Query and body {&quot;amount&quot;: 100}" in text
    assert "{&quot;status&quot;: &quot;succeeded&quot;}" in text


ACTS: dict[str, Callable[[Client, ApiKey], Any]] = {
    "list keys": lambda client, _: client.get(KEYS),
    "make a key": lambda client, _: client.post(f"{KEYS}add/", TEST_KEY | once(client)),
    "revoke a key": lambda client, key: client.post(f"{KEYS}{key.pk}/revoke/", {"reason": "Leak"}),
    "list endpoints": lambda client, _: client.get(ENDPOINTS),
    "make an endpoint": lambda client, _: client.post(f"{ENDPOINTS}add/", ENDPOINT | once(client)),
    "list webhooks": lambda client, _: client.get("/merchant/payments/webhook/"),
    "list events": lambda client, _: client.get("/merchant/payments/event/"),
    "list requests": lambda client, _: client.get("/merchant/payments/apirequest/"),
    "list secrets": lambda client, _: client.get("/merchant/payments/webhooksecret/"),
    "roll the secret": lambda client, _: client.get("/merchant/payments/webhooksecret/add/"),
}


@pytest.mark.long
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("role", Role.values)
def test_owners_and_developers_alone_see_and_change_the_integration(role: str, act: str, shop: NewMerchant) -> None:
    key = ApiKey.objects.filter(merchant=shop.merchant, livemode=False).latest("id")
    answer = ACTS[act](signed_in(member(shop.merchant, role)), key)
    assert (answer.status_code == 403) == (role not in (Role.OWNER, Role.DEVELOPER))
    assert answer.status_code < 404


def test_what_is_stored_is_the_same_in_any_language(developer: Client) -> None:
    """In Filipino the page answers in Filipino; what the audit log and the request for approval keep is English."""
    kept = []
    for language, revoked in (("en", "is revoked"), ("fil", "Na-revoke")):
        developer.defaults["HTTP_ACCEPT_LANGUAGE"] = language
        before = AuditEntry.objects.count()
        developer.post(f"{KEYS}add/", TEST_KEY | once(developer))
        developer.post(f"{KEYS}add/", TEST_KEY | once(developer) | {"mode": "live"})
        key = ApiKey.objects.filter(name="web shop").latest("pk")
        assert revoked in words_of(developer.post(f"{KEYS}{key.pk}/revoke/", {"reason": "Leak"}, follow=True))
        developer.post(f"{ENDPOINTS}add/", ENDPOINT | once(developer))
        endpoint = WebhookEndpoint.objects.latest("pk")
        developer.post(f"{ENDPOINTS}{endpoint.pk}/pause-endpoint/", {"reason": "Moved"})
        entries = AuditEntry.objects.order_by("id")[before:].values_list("action", "object_type", "fields", "detail")
        asked = ApprovalRequest.objects.latest("pk")
        kept.append(IDS.sub("", f"{list(entries)} {asked.after} {asked.before}"))
    assert kept[0] == kept[1]


def test_requests_and_webhooks_are_narrowed_by_answer_path_key_endpoint_and_event(
    developer: Client, shop: NewMerchant, other_shop: NewMerchant, house: House
) -> None:
    keys = [ApiKey.objects.filter(merchant=each.merchant, livemode=False)[0] for each in (shop, other_shop)]
    for path, status in (("/v2/charges", 201), ("/v2/payouts", 404)):
        asked = {"method": "GET", "path": path, "status": status, "milliseconds": 1, "created_at": timezone.now()}
        owner = {"merchant": shop.merchant, "livemode": False, "api_key": keys[0], "request_id": keys[0].pk}
        ApiRequest.objects.create(**owner, **asked)
    narrow = partial(rows_at, developer, "/merchant/payments/apirequest/")
    assert (narrow(), narrow(answer="succeeded"), narrow(path="payouts")) == (2, 1, 1)
    assert (narrow(key=keys[0].pk.hex), narrow(key=keys[1].pk.hex), narrow(key="x")) == (2, 0, 0)
    endpoint = WebhookEndpoint.objects.create(
        merchant=shop.merchant, livemode=False, url="https://sari.example/", enabled_events=["*"]
    )
    webhook = Webhook.objects.filter(event__type="charge.created", merchant=shop.merchant).latest("id")
    Webhook.objects.filter(pk=webhook.pk).update(endpoint=endpoint)
    narrow = partial(rows_at, developer, "/merchant/payments/webhook/")
    assert (narrow(endpoint=endpoint.pk.hex), narrow(endpoint=endpoint.pk.hex, event="refund.created")) == (1, 0)


def rows_at(client: Client, address: str, **query: str) -> int:
    """Return how many rows a list shows of test mode."""
    return len(client.get(address, {"mode": "test", **query}).context["cl"].result_list)


def test_a_try_shows_what_was_sent_and_what_came_back(developer: Client, house: House) -> None:
    webhook = Webhook.objects.filter(event__type="charge.created").latest("id")
    Webhook.objects.filter(pk=webhook.pk).update(tries=9)
    WebhookAttempt.objects.create(
        **{"webhook": webhook, "merchant": webhook.merchant, "number": 9, "started_at": timezone.now()},
        **{"milliseconds": 7, "status": 302, "headers": "Location: /login", "answer": b"Sign in first"},
    )
    text = words_of(developer.get(f"/merchant/payments/webhook/{webhook.pk}/change/"))
    for shown in (f"POST {webhook.url}", "webhook-signature: …", "Halo-halo", "Location: /login", "Sign in first"):
        assert shown in text


def test_a_tab_leads_a_developer_to_the_guide_on_rehearsing_a_shop(developer: Client) -> None:
    assert 'href="/merchant/payments/apikey/rehearse/"' in developer.get(KEYS).content.decode()
    led_to = developer.get(f"{KEYS}rehearse/")
    assert (led_to.status_code, led_to["Location"].endswith("/docs/rehearse")) == (302, True)

"""The pages of webhook endpoints: what they show, what operators do there, and how they are found."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.domain.merchants.merchants import NewMerchant, valid_webhook_secrets
from payments.inbox import sections
from payments.models import AuditEntry, WebhookEndpoint
from tests.admin.actions import REASON, act, address_of
from tests.admin.conftest import text_of
from tests.client import Api
from tests.support.receiver import Receiver
from tests.webhooks.endpoints import add_endpoint

LIST = reverse("admin:payments_webhookendpoint_changelist")


@pytest.fixture
def endpoint(shop: NewMerchant) -> WebhookEndpoint:
    return add_endpoint(shop.merchant, events=("charge.succeeded",))


def page(operator: Client, endpoint: WebhookEndpoint) -> str:
    return text_of(operator.get(address_of(endpoint, "change")))


def test_its_page_shows_it_and_its_last_webhooks(operator: Client, endpoint: WebhookEndpoint, api: Api) -> None:
    api.charge()
    text = page(operator, endpoint)
    assert str(endpoint) in text
    assert "charge.succeeded: waiting, tries: 0" in text


def test_it_is_found_by_its_id_and_by_a_part_of_its_url(operator: Client, endpoint: WebhookEndpoint) -> None:
    for term in (str(endpoint), "shop.example"):
        assert str(endpoint.pk) in text_of(operator.get(LIST, {"q": term}))
    found = operator.get(reverse("admin:find"), {"q": str(endpoint)}, follow=True)
    assert endpoint.url.partition("?")[0] in text_of(found)


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("enabled", "pause_endpoint", "paused"),
        ("paused", "resume_endpoint", "enabled"),
        ("paused", "disable_endpoint", "disabled"),
        ("disabled", "enable_endpoint", "enabled"),
        ("disabled", "delete_endpoint", "deleted"),
    ],
)
def test_its_status_is_changed_for_a_reason_that_is_recorded(
    operator: Client, endpoint: WebhookEndpoint, before: str, name: str, after: str
) -> None:
    WebhookEndpoint.objects.update(status=before)
    assert act(operator, endpoint, name).status_code == 302
    endpoint.refresh_from_db()
    assert endpoint.status == after
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.reason, entry.detail) == ("changed", REASON, f"status: {before} → {after}")


def test_what_does_not_fit_its_status_is_not_offered(operator: Client, endpoint: WebhookEndpoint) -> None:
    assert address_of(endpoint, "resume_endpoint") not in page(operator, endpoint)
    act(operator, endpoint, "resume_endpoint")
    assert not AuditEntry.objects.filter(action="changed").exists()


def test_its_url_and_events_are_changed_and_the_log_has_no_query(operator: Client, endpoint: WebhookEndpoint) -> None:
    fields: dict[str, Any] = {"url": "https://shop.example/new?token=s3cret", "events": ["*", "charge.failed"]}
    assert act(operator, endpoint, "change_endpoint", **fields).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.url, endpoint.enabled_events) == (fields["url"], ["*"])
    entry = AuditEntry.objects.latest("id")
    assert "url: https://shop.example/kaha → https://shop.example/new" in entry.detail
    assert "s3cret" not in entry.detail
    refused = act(operator, endpoint, "change_endpoint", **fields | {"url": "ftp://shop.example/"})
    assert "scheme must be https or http" in text_of(refused)


def test_its_secret_is_rolled_and_shown_once(operator: Client, endpoint: WebhookEndpoint) -> None:
    text = text_of(act(operator, endpoint, "roll_secret", hours=1))
    assert valid_webhook_secrets(endpoint.merchant, False, endpoint)[0] in text
    assert AuditEntry.objects.latest("id").action == "rolled"


def test_a_test_event_is_sent_to_it(operator: Client, endpoint: WebhookEndpoint, settings: Any) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    with Receiver(lambda call: 500) as receiver:
        WebhookEndpoint.objects.update(url=receiver.url)
        answer = act(operator, endpoint, "test_endpoint")
    assert "answered 500" in text_of(operator.get(answer["Location"]))
    assert len(receiver.calls) == 1
    assert AuditEntry.objects.latest("id").action == "tested"


def test_one_that_kaha_disabled_is_in_the_inbox_until_somebody_deals_with_it(
    operator: Client, endpoint: WebhookEndpoint
) -> None:
    def shown() -> list[str]:
        found = sections.sections_of(User(is_superuser=True, is_active=True), None)
        return [entry.what for section in found if section.sort.name == "endpoints" for entry in section.entries]

    assert shown() == []
    WebhookEndpoint.objects.update(status="disabled", gave_up_at=clock.now())
    assert shown() == [f"Nothing has reached {endpoint} for days: it is disabled"]
    act(operator, endpoint, "enable_endpoint")
    assert shown() == []

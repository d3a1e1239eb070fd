import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from payments import clock
from payments.admin.webhooks.webhooks import MOST_AT_ONCE
from payments.ids import parse_id
from payments.models import AuditEntry, Charge, Event, Webhook, WebhookAttempt
from tests.admin.conftest import NOTIFY_URL, House, text_of
from tests.admin.test_pages import list_of, page_of
from tests.client import CHALLENGED, Api
from tests.staff.all_merchants import for_all

pytestmark = pytest.mark.long

State = Webhook.State
OTHER_URL = "https://other.example/kaha"
WHY = "They asked for it, ticket 7"
DECIDED = {"decision": "send_again", "reason": WHY}


@pytest.fixture
def failed(house: House) -> Webhook:
    """Return the webhook of `charge.created`, given up."""
    found = Webhook.objects.get(event__type="charge.created")
    Webhook.objects.filter(id=found.id).update(state=State.EXHAUSTED, due_at=None, failures=14, tries=2)
    for number in (1, 2):
        moment = {"started_at": clock.now(), "milliseconds": 7}
        WebhookAttempt.objects.create(webhook=found, merchant=found.merchant, number=number, status=503, **moment)
    return found


def again_at(webhook: Webhook) -> str:
    return reverse("admin:payments_webhook_send_again", args=[webhook.pk])


def shown(operator: Client, **query: str) -> set[str]:
    """Return the types of event in the list."""
    text = text_of(operator.get(list_of(Webhook), query))
    return set(re.findall(r'field-type"><a href="[^"]+">([a-z.]+)<', text))


def waiting(webhook: Webhook) -> bool:
    return Webhook.objects.filter(id=webhook.id, state=State.WAITING, failures=0).exists()


ALL = {"charge.created", "charge.succeeded", "charge.updated", "refund.created"}


@pytest.mark.parametrize(
    ("prefix", "types"),
    [
        ("evt", {"charge.created"}),
        ("ch", ALL),
        ("re", {"refund.created"}),
        ("req", {"charge.created", "charge.succeeded"}),
        ("mer", ALL),
    ],
)
def test_an_id_finds_its_webhooks(prefix: str, types: set[str], house: House, operator: Client) -> None:
    assert shown(operator, q=house.id_of(prefix)) == types


def test_a_url_or_a_part_of_it_finds_its_webhooks(house: House, api: Api, operator: Client) -> None:
    redirect = {"success": OTHER_URL, "fail": OTHER_URL, "notify": OTHER_URL}
    api.charge_source(api.source(redirect=redirect))
    assert shown(operator, q="other.example") == {"charge.created", "charge.succeeded"}
    assert shown(operator, q=NOTIFY_URL) == ALL


def test_the_pages_of_charge_and_merchant_lead_there(house: House, operator: Client) -> None:
    for row in (Charge.objects.get(), house.shop.merchant):
        [query] = re.findall(rf'{list_of(Webhook)}\?q=(\w+)"', text_of(operator.get(page_of(row))))
        assert shown(operator, q=query) == ALL


def test_each_state_is_a_chip_and_a_filter(failed: Webhook, operator: Client) -> None:
    text = text_of(operator.get(list_of(Webhook)))
    assert text.count('<span class="chip chip-exhausted">exhausted</span>') == 1
    assert text.count('<span class="chip chip-waiting">waiting</span>') == 3
    assert shown(operator, state="exhausted") == {"charge.created"}


def test_the_page_shows_the_tries_newest_first(failed: Webhook, operator: Client) -> None:
    text = text_of(operator.get(page_of(failed)))
    assert re.findall(r'<th scope="row">(\d)', text) == ["2", "1"]
    assert NOTIFY_URL in text
    assert page_of(Event.objects.get(id=failed.event_id)) in text


def test_what_a_receiver_answered_is_text_without_card_numbers_and_keys(failed: Webhook, operator: Client) -> None:
    answer = b"<script>alert(1)</script> 4242424242424242 sk_live_0123456789abcdef \x00\xff"
    WebhookAttempt.objects.create(
        webhook=failed,
        merchant=failed.merchant,
        number=3,
        started_at=clock.now(),
        milliseconds=7,
        status=500,
        answer=answer,
    )
    text = text_of(operator.get(page_of(failed)))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; [redacted] sk_live_[redacted]" in text
    assert "<script>alert" not in text


def test_one_is_sent_again_from_its_page(failed: Webhook, operator: Client) -> None:
    assert again_at(failed) in text_of(operator.get(page_of(failed)))
    assert "What happens" in text_of(operator.get(again_at(failed)))
    assert not waiting(failed)
    text = text_of(operator.post(again_at(failed), {"reason": WHY}, follow=True))
    assert "1 of 1 will be sent again now." in text
    assert waiting(failed)


def test_a_selection_is_sent_again_and_one_being_sent_is_left(failed: Webhook, operator: Client) -> None:
    held = Webhook.objects.get(event__type="refund.created")
    Webhook.objects.filter(id=held.id).update(leased_until=clock.now() + timedelta(seconds=30))
    chosen = {"action": "send_again", "_selected_action": [failed.pk, held.pk]}
    asked = text_of(operator.post(list_of(Webhook), chosen))
    assert ("1 exhausted, 1 waiting" in asked, str(failed.pk) in asked, waiting(failed)) == (True, True, False)
    text = text_of(operator.post(list_of(Webhook), chosen | DECIDED, follow=True))
    assert "1 of 2 will be sent again now." in text
    assert "1 of 2 left alone: a worker is sending at this moment." in text
    assert waiting(failed)
    assert Webhook.objects.get(id=held.id).leased_until is not None
    assert (AuditEntry.objects.about(failed).count(), AuditEntry.objects.about(held).count()) == (1, 0)


def test_all_that_a_filter_leaves_are_sent_again(failed: Webhook, operator: Client) -> None:
    Webhook.objects.filter(event__type__startswith="charge").update(state=State.GONE, due_at=None)
    Webhook.objects.filter(event__type__startswith="refund").update(state=State.DELIVERED, due_at=None)
    chosen = {"action": "send_again", "_selected_action": [failed.pk], "select_across": "1"}
    operator.post(list_of(Webhook) + "?state=gone", chosen | DECIDED)
    types = Webhook.objects.filter(state=State.WAITING).values_list("event__type", flat=True)
    assert set(types) == ALL - {"refund.created"}


def test_who_sent_again_stands_in_its_history(failed: Webhook, operator: Client) -> None:
    operator.post(again_at(failed), {"reason": WHY})
    [entry] = AuditEntry.objects.about(failed)
    assert (entry.actor, entry.action, entry.reason) == ("operator", "sent_again", WHY)


@pytest.mark.parametrize("reason", ["", f"It is {CHALLENGED}"], ids=["none", "a card number"])
def test_without_a_proper_reason_nothing_is_sent_again(failed: Webhook, operator: Client, reason: str) -> None:
    one = text_of(operator.post(again_at(failed), {"reason": reason}))
    chosen = {"action": "send_again", "_selected_action": [failed.pk]} | DECIDED | {"reason": reason}
    many = text_of(operator.post(list_of(Webhook), chosen))
    assert ("errorlist" in one, "errorlist" in many, CHALLENGED in one + many) == (True, True, False)
    assert not waiting(failed)


def many_more(of: Webhook, count: int) -> None:
    """So many webhooks like `of`."""
    values = {"merchant": of.merchant, "livemode": of.livemode, "type": of.event.type, "payload": of.event.payload}
    events = [Event(object_id=of.event.object_id, sequence=100 + number, **values) for number in range(count)]
    Event.objects.bulk_create(events)
    announced = {"merchant": of.merchant, "livemode": of.livemode, "url": of.url, "receiver": of.receiver}
    Webhook.objects.bulk_create(Webhook(id=event.id, event=event, **announced) for event in events)


def test_more_than_may_go_at_once_are_left(failed: Webhook, operator: Client) -> None:
    many_more(failed, MOST_AT_ONCE)
    chosen = {"action": "send_again", "_selected_action": [failed.pk], "select_across": "1"}
    announced = text_of(operator.post(list_of(Webhook), chosen | DECIDED, follow=True))
    assert f"These are more than {MOST_AT_ONCE}." in announced
    assert not AuditEntry.objects.filter(action="sent_again").exists()


def test_webhooks_of_a_charge_are_sent_again_from_its_page(failed: Webhook, house: House, operator: Client) -> None:
    charge = Charge.objects.get()
    address = reverse("admin:payments_charge_send_webhooks_again", args=[charge.pk])
    assert address in text_of(operator.get(page_of(charge)))
    form = text_of(operator.get(address))
    assert re.findall(r'value="([0-9a-f-]{36})"[^>]*checked', form) == [str(failed.pk)]
    assert form.count('name="which"') == len(ALL)
    announced = text_of(operator.post(address, {"which": [failed.pk], "reason": WHY}, follow=True))
    assert "1 of 1 will be sent again now." in announced
    assert waiting(failed)


def test_webhooks_of_another_charge_are_not_sent_again_from_there(failed: Webhook, api: Api, operator: Client) -> None:
    other = Charge.objects.get(id=parse_id("ch", api.charge()["id"]))
    address = reverse("admin:payments_charge_send_webhooks_again", args=[other.pk])
    assert address not in text_of(operator.get(page_of(other)))
    text_of(operator.post(address, {"which": [failed.pk], "reason": WHY}))
    assert not waiting(failed)


def test_one_that_is_not_there_is_not_sent_again(house: House, operator: Client) -> None:
    missing = reverse("admin:payments_webhook_send_again", args=[house.shop.merchant.pk])
    assert operator.post(missing, {"reason": WHY}).status_code == 404


def test_an_operator_who_may_only_look_sends_nothing_again(failed: Webhook) -> None:
    looker = for_all(User.objects.create(username="looker", is_staff=True))
    looker.user_permissions.add(Permission.objects.get(codename="view_webhook"))
    client = Client()
    client.force_login(looker)
    assert again_at(failed) not in text_of(client.get(page_of(failed)))
    assert "Send again" not in text_of(client.get(list_of(Webhook)))
    assert client.post(again_at(failed)).status_code == 403
    client.post(list_of(Webhook), {"action": "send_again", "_selected_action": [failed.pk]} | DECIDED)
    assert not waiting(failed)


def test_a_webhook_is_not_edited(failed: Webhook, operator: Client) -> None:
    assert operator.post(page_of(failed), {"url": OTHER_URL, "state": "delivered"}).status_code == 403
    assert Webhook.objects.get(id=failed.id).url == NOTIFY_URL

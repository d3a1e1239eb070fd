"""Webhook endpoints: which events are written for them, what their receivers get, and how what waits ends."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import standardwebhooks
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments import clock
from payments.db.writes import execute_writes
from payments.domain.catalogue.event_types import EVENT_TYPES
from payments.domain.charging.expiry import void_expired_holds
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.shared import events
from payments.domain.shared.caller import Caller
from payments.domain.webhooks import endpoints
from payments.ids import new_id, public_id
from payments.models import Charge, Event, Webhook, WebhookAttempt, WebhookEndpoint
from payments.models.merchants.webhook_endpoint import PREFIX
from payments.webhooks import outbox
from payments.webhooks.worker import DeliveryLoop
from tests.client import Api
from tests.disputes.stories import AT_ONCE, deliver
from tests.figures.webhooks.schedule import MovedClock
from tests.support.receiver import Receiver
from tests.webhooks.endpoints import add_endpoint, add_with_secret, claim, record_answer

pytestmark = pytest.mark.django_db(transaction=True)

OWN = {"success": "https://shop.example/yes", "fail": "https://shop.example/no", "notify": "https://shop.example/own"}
LATER = timedelta(minutes=1)


def written() -> list[tuple[str, WebhookEndpoint | None]]:
    """Return the type and endpoint of each webhook in the order of the changes."""
    rows = Webhook.objects.select_related("event", "endpoint").order_by("event_id")
    return [(row.event.type, row.endpoint) for row in rows]


def states() -> list[str]:
    return list(Webhook.objects.order_by("id").values_list("state", flat=True))


def test_an_endpoint_gets_the_types_that_it_lists(api: Api, shop: NewMerchant) -> None:
    some = add_endpoint(shop.merchant, events=("charge.succeeded", "source.created"))
    api.charge()
    assert written() == [("source.created", some), ("charge.succeeded", some)]


def test_one_that_lists_everything_gets_every_event(api: Api, shop: NewMerchant) -> None:
    add_endpoint(shop.merchant)
    api.charge()
    listed = Event.objects.filter(livemode=False).exclude(type="organization.updated").order_by("id")
    assert [event_type for event_type, _ in written()] == list(listed.values_list("type", flat=True))


def test_endpoints_and_the_notify_url_of_the_source_all_get_an_event_once(api: Api, shop: NewMerchant) -> None:
    both = [add_endpoint(shop.merchant, events=("charge.succeeded",)) for _ in range(2)]
    api.charge_source(api.source(redirect=OWN))
    rows = [endpoint for event_type, endpoint in written() if event_type == "charge.succeeded"]
    assert sorted(rows, key=str) == sorted([None, *both], key=str)


def test_nothing_is_written_for_the_other_mode_or_another_merchant(
    api: Api, shop: NewMerchant, other_shop: NewMerchant
) -> None:
    add_endpoint(shop.merchant, livemode=True)
    add_endpoint(other_shop.merchant)
    api.charge()
    assert written() == []


def test_what_the_worker_changes_goes_to_endpoints_too(api: Api, shop: NewMerchant) -> None:
    endpoint = add_endpoint(shop.merchant, events=("charge.updated",))
    api.held()
    Charge.objects.update(hold_expires_at=clock.now())
    void_expired_holds()
    assert written() == [("charge.updated", endpoint)]


def test_notify_types_are_the_23_that_clients_know() -> None:
    assert len([each for each in EVENT_TYPES.values() if each.is_notified]) == 23


def test_a_dispute_reaches_notify_with_its_charge_and_endpoints_as_itself(api: Api, shop: NewMerchant) -> None:
    endpoint = add_endpoint(shop.merchant, events=("dispute.created",))
    api.charge_source(api.source(AT_ONCE, redirect=OWN))
    deliver()
    assert ("dispute.created", endpoint) in written()
    notified = [event_type for event_type, endpoint in written() if endpoint is None]
    assert notified[-1] == "charge.disputed"
    assert not [event_type for event_type in notified if not EVENT_TYPES[event_type].is_notified]


def test_a_charge_of_an_account_without_endpoints_takes_as_many_statements_as_with_sixteen(
    api: Api, shop: NewMerchant
) -> None:
    """The endpoints come with the key, and their webhooks in the statement of the change."""
    counts = []
    for count in (0, 16):
        for _ in range(count):
            add_endpoint(shop.merchant)
        source = api.source()
        with CaptureQueriesContext(connection) as captured:
            api.charge_source(source)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_it_is_signed_with_the_secret_of_the_endpoint_and_not_of_the_merchant(api: Api, shop: NewMerchant) -> None:
    with Receiver() as receiver:
        _, secret = add_with_secret(shop.merchant, receiver.url, ("charge.succeeded",))
        api.charge()
        DeliveryLoop().run()
    [call] = receiver.calls
    assert standardwebhooks.Webhook(secret).verify(call.body, call.headers) == call.event
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(shop.webhook_secrets["whsec_test"]).verify(call.body, call.headers)


@pytest.mark.long
def test_while_a_secret_is_rolled_the_one_before_signs_along_and_no_third(api: Api, shop: NewMerchant) -> None:
    with Receiver() as receiver:
        endpoint, first = add_with_secret(shop.merchant, receiver.url, ("charge.succeeded",))
        second, third = (endpoints.roll_secret_for_operator(endpoint, timedelta(hours=1)) for _ in range(2))
        api.charge()
        DeliveryLoop().run()
        api.charge()
        DeliveryLoop(MovedClock(clock.now() + timedelta(hours=2))).run()
    during, after = receiver.calls
    for secret in (second, third):
        standardwebhooks.Webhook(secret).verify(during.body, during.headers)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(first).verify(during.body, during.headers)
    assert len(after.headers["webhook-signature"].split()) == 1


def test_a_secret_that_is_rolled_while_an_event_waits_signs_it(api: Api, shop: NewMerchant) -> None:
    with Receiver() as receiver:
        endpoint, _ = add_with_secret(shop.merchant, receiver.url, ("charge.succeeded",))
        api.charge()
        secret = endpoints.roll_secret_for_operator(endpoint, timedelta())
        DeliveryLoop().run()
    [call] = receiver.calls
    standardwebhooks.Webhook(secret).verify(call.body, call.headers)


def test_what_waits_goes_to_the_new_url(api: Api, shop: NewMerchant) -> None:
    with Receiver() as before, Receiver() as after:
        endpoint = add_endpoint(shop.merchant, before.url, ("charge.succeeded",))
        api.charge()
        endpoints.change_for_operator(endpoint, url=after.url)
        DeliveryLoop().run()
    assert (len(before.calls), len(after.calls)) == (0, 1)
    assert Webhook.objects.get().url == after.url


def test_the_news_of_a_new_url_goes_to_the_one_before(shop: NewMerchant) -> None:
    with Receiver() as before, Receiver() as after:
        endpoint, secret = add_with_secret(shop.merchant, before.url)
        endpoints.change_for_operator(endpoint, url=after.url)
        DeliveryLoop().run()
    [call] = before.calls
    assert (call.event["type"], after.calls) == ("organization.updated", [])
    standardwebhooks.Webhook(secret).verify(call.body, call.headers)


def test_the_news_that_it_is_deleted_still_comes_signed(shop: NewMerchant) -> None:
    with Receiver() as receiver:
        endpoint, secret = add_with_secret(shop.merchant, receiver.url)
        endpoints.change_for_operator(endpoint, status="deleted")
        DeliveryLoop().run()
    [call] = receiver.calls
    standardwebhooks.Webhook(secret).verify(call.body, call.headers)


def test_a_paused_endpoint_gets_what_was_kept_for_it_once_it_is_resumed(api: Api, shop: NewMerchant) -> None:
    with Receiver() as receiver:
        endpoint = add_endpoint(shop.merchant, receiver.url, ("charge.succeeded",))
        api.charge()
        endpoints.change_for_operator(endpoint, status="paused")
        api.charge()
        assert DeliveryLoop().run() == 0
        endpoints.change_for_operator(endpoint, status="enabled")
        assert DeliveryLoop().run() == 2
    assert [call.event["type"] for call in receiver.calls] == ["charge.succeeded"] * 2


def test_a_pause_holds_up_no_other_endpoint_of_the_merchant(api: Api, shop: NewMerchant) -> None:
    with Receiver() as receiver:
        paused, _ = (add_endpoint(shop.merchant, receiver.url, ("charge.succeeded",)) for _ in range(2))
        endpoints.change_for_operator(paused, status="paused")
        api.charge()
        DeliveryLoop().run()
    assert len(receiver.calls) == 1


@pytest.mark.long
@pytest.mark.parametrize("status", ["disabled", "deleted"])
def test_what_waits_for_an_endpoint_that_is_no_more_is_cancelled_unsent(
    api: Api, shop: NewMerchant, status: str
) -> None:
    with Receiver() as receiver:
        endpoint = add_endpoint(shop.merchant, receiver.url, ("charge.succeeded",))
        api.charge()
        endpoints.change_for_operator(endpoint, status=status)
        api.charge()
        DeliveryLoop().run()
    assert receiver.calls == []
    assert states() == ["cancelled"]
    assert WebhookAttempt.objects.get().error == "switched_off"


def test_one_that_is_deleted_while_a_worker_has_claimed_it_is_recorded_as_sent(api: Api, shop: NewMerchant) -> None:
    endpoint = add_endpoint(shop.merchant, events=("charge.succeeded",))
    api.charge()
    [claimed] = claim()
    endpoints.change_for_operator(endpoint, status="deleted")
    record_answer(claimed, 200)
    assert states() == ["delivered"]


def test_endpoints_at_one_server_have_queues_of_their_own(api: Api, shop: NewMerchant) -> None:
    for _ in range(2):
        add_endpoint(shop.merchant, events=("charge.succeeded",))
    api.charge()
    assert len(set(Webhook.objects.values_list("receiver", flat=True))) == 2


@pytest.fixture
def failing(api: Api, shop: NewMerchant) -> Iterator[WebhookEndpoint]:
    """Yield an endpoint whose receiver has just refused an event."""
    with Receiver(lambda call: 500) as receiver:
        endpoint = add_endpoint(shop.merchant, receiver.url, ("charge.succeeded",))
        api.charge()
        DeliveryLoop().run()
        yield endpoint


def in_days(days: float) -> clock.at:
    return clock.at(clock.now() + timedelta(days=days))


def status_in(days: float, endpoint: WebhookEndpoint) -> str:
    """Return its status after the sweep of so many days later."""
    with in_days(days):
        endpoints.disable_failing()
    endpoint.refresh_from_db()
    return endpoint.status


def test_after_five_days_of_nothing_but_failures_it_is_disabled(failing: WebhookEndpoint) -> None:
    assert [status_in(days, failing) for days in (4.9, 5.1)] == ["enabled", "disabled"]
    assert failing.gave_up_at
    assert Event.objects.filter(type="organization.updated").count() == 2


def test_one_success_begins_the_days_anew(api: Api, failing: WebhookEndpoint) -> None:
    failing.refresh_from_db()
    assert failing.failing_since
    api.charge()
    [claimed] = claim()
    record_answer(claimed, 200)
    assert status_in(6, failing) == "enabled"
    assert failing.failing_since is None


def test_a_failure_of_long_ago_with_nothing_sent_since_disables_nothing(failing: WebhookEndpoint) -> None:
    Webhook.objects.update(state="exhausted", due_at=None)
    assert status_in(6, failing) == "enabled"


def test_what_waits_and_has_not_failed_disables_nothing(api: Api, failing: WebhookEndpoint) -> None:
    Webhook.objects.update(state="exhausted", due_at=None)
    api.charge()
    assert Webhook.objects.filter(due_at__isnull=False, failures=0).count() == 1
    assert status_in(6, failing) == "enabled"


def test_what_failed_at_another_endpoint_disables_nothing(shop: NewMerchant, failing: WebhookEndpoint) -> None:
    other = add_endpoint(shop.merchant, events=("charge.succeeded",))
    Webhook.objects.update(receiver=public_id(PREFIX, other.id))
    assert [status_in(6, each) for each in (failing, other)] == ["enabled", "enabled"]


def test_one_that_is_enabled_again_has_five_days_anew(failing: WebhookEndpoint) -> None:
    status_in(6, failing)
    endpoints.change_for_operator(failing, status="enabled")
    assert (status_in(6, failing), failing.gave_up_at) == ("enabled", None)


def make_unaware(shop: NewMerchant, number: int = 1) -> None:
    """Have a process that knows no endpoint write an event."""
    caller = Caller(shop.merchant.id, False, endpoints=[])
    execute_writes(*events.writes_of(caller, "charge.failed", new_id(), number, {"object": "charge"}))


def caught_up(seconds: float = 2) -> int:
    with clock.at(clock.now() + timedelta(seconds=seconds)):
        return endpoints.catch_up()


def test_an_event_of_a_process_that_did_not_know_of_a_new_endpoint_reaches_it_once(shop: NewMerchant) -> None:
    make_unaware(shop)
    new = add_endpoint(shop.merchant)
    make_unaware(shop)
    assert (caught_up(0), caught_up(), caught_up(6)) == (0, 1, 0)
    assert written() == [("charge.failed", new)]


def test_an_event_that_was_under_way_for_minutes_reaches_it_too(shop: NewMerchant) -> None:
    new = add_endpoint(shop.merchant)
    assert caught_up() == 0
    make_unaware(shop)
    assert [caught_up(seconds) for seconds in (90, 300, 301)] == [1, 0, 0]
    assert written() == [("charge.failed", new)]
    new.refresh_from_db()
    assert (new.owed_since, new.catch_up_at) == (None, None)


def test_many_events_are_caught_up_in_parts(shop: NewMerchant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "ADDED_AT_ONCE", 2)
    add_endpoint(shop.merchant)
    for _ in range(5):
        make_unaware(shop)
    assert (caught_up(), len(written())) == (5, 5)


def test_a_type_that_is_added_soon_after_an_endpoint_was_made_comes_from_then_on(shop: NewMerchant) -> None:
    endpoint, caller = add_endpoint(shop.merchant, events=("charge.updated",)), Caller(shop.merchant.id, False)
    make_unaware(shop)
    with clock.at(clock.now() + timedelta(seconds=20)):
        endpoints.update(caller, str(endpoint), {"enabled_events": ["charge.updated", "charge.failed"]})
        make_unaware(shop)
        assert (caught_up(), len(written())) == (1, 1)


def test_a_changed_endpoint_gets_what_it_lists_now_and_an_enabled_one_everything(shop: NewMerchant) -> None:
    endpoint, caller = add_endpoint(shop.merchant, events=("charge.updated",)), Caller(shop.merchant.id, False)
    WebhookEndpoint.objects.update(owed_since=None, catch_up_at=None)
    make_unaware(shop)
    endpoints.update(caller, str(endpoint), {"enabled_events": ["charge.failed"]})
    make_unaware(shop)
    assert caught_up() == 1
    endpoints.update(caller, str(endpoint), {"status": "disabled"})
    make_unaware(shop)
    assert caught_up() == 0
    endpoints.update(caller, str(endpoint), {"status": "enabled"})
    make_unaware(shop)
    assert (caught_up(), len(written())) == (1, 2)

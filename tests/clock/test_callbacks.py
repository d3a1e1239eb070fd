"""Callbacks whose next try is made due by time that passes."""

import pytest

from payments import clock, failpoints
from payments.domain.merchants.merchants import NewMerchant
from payments.failpoints import Failpoint
from payments.models import Webhook
from payments.webhooks.worker import DeliveryLoop
from tests.client import Api
from tests.clock.cast import DAY, HOUR, let_pass
from tests.figures.webhooks.events import put_events
from tests.support.receiver import Receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback_allowed")]


@pytest.fixture
def loopback_allowed(settings: object) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True


@pytest.mark.long
def test_each_time_that_passes_makes_the_next_try_due(shop: NewMerchant, api: Api) -> None:
    with Receiver(reply=lambda _: 500) as receiver:
        put_events(shop.merchant, receiver.url, 1, clock.now())
        tries = [DeliveryLoop().run()]
        for _ in range(5):
            let_pass(api, HOUR)
            tries.append(DeliveryLoop().run())

    assert tries == [1] * 6
    assert Webhook.objects.get().tries == len(receiver.calls) == 6


@pytest.mark.long
def test_a_webhook_is_given_up_when_three_days_have_passed(shop: NewMerchant, api: Api) -> None:
    with Receiver(reply=lambda _: 500) as receiver:
        put_events(shop.merchant, receiver.url, 1, clock.now())
        DeliveryLoop().run()

        let_pass(api, 3 * DAY)
        DeliveryLoop().run()

    assert (Webhook.objects.get().state, len(receiver.calls)) == ("exhausted", 2)


@pytest.mark.long
def test_what_happens_as_time_passes_is_reported(api: Api) -> None:
    with Receiver() as receiver:
        hook = {"success": "https://shop.example/", "fail": "https://shop.example/", "notify": receiver.url}
        api.charge_source(api.source(redirect=hook), capture=False)
        let_pass(api, 7 * DAY)
        DeliveryLoop().run()

    announced = [call.event for call in receiver.calls]
    assert max((event["sequence"], event["data"]["object"]["status"]) for event in announced) == (3, "voided")


def test_a_worker_is_woken_for_what_has_come_due(shop: NewMerchant, api: Api) -> None:
    put_events(shop.merchant, "https://shop.example/hook", 1, clock.now())
    reached: list[Failpoint] = []
    failpoints.listen(reached.append)
    try:
        let_pass(api, HOUR)
    finally:
        failpoints.listen(None)

    assert Failpoint.WAKING_WORKER in reached

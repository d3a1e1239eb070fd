"""What is kept of the request that asked."""

from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey, Attempt, Event
from tests.charging.elapsed_time import recover
from tests.client import ANSWER_LOST, Api


def test_an_attempt_and_its_events_keep_the_key_that_asked(api: Api, shop: NewMerchant) -> None:
    api.charge()
    key = ApiKey.objects.get(last4=shop.keys["sk_test"][-4:], kind="secret", livemode=False)
    assert Attempt.objects.get().api_key == key
    assert set(Event.objects.values_list("api_key", flat=True)) == {key.pk}


def test_what_a_request_was_answered_stays_true_when_the_outcome_is_found(api: Api) -> None:
    api.charge(ANSWER_LOST)
    recover()
    attempt = Attempt.objects.get()
    assert (attempt.state, attempt.answer_status) == ("done", 201)


def test_an_operation_keeps_its_idempotency_key_and_how_it_was_answered(api: Api) -> None:
    held = api.held()
    api.post(f"/charges/{held['id']}/capture", {}, key="order-7")
    assert Attempt.objects.filter(kind="capture").values_list("idempotency_key", "answer_status").get() == (
        "order-7",
        200,
    )

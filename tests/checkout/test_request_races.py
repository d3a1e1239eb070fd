"""What happens to one request, or one customer, at once, with real threads."""

from typing import Any

import pytest

from payments.domain.checkout import collect
from payments.domain.shared.errors import PaymentError
from payments.models import PaymentRequest
from tests.charging.doubles import Waits, provider
from tests.checkout.cast import billed, charges_of, collected, customer, event_types, pay, shown
from tests.client import Api, error_of, made
from tests.concurrency import at_once, in_background, statuses

pytestmark = pytest.mark.django_db(transaction=True)


def paid_or_refused(request: dict[str, Any]) -> bool:
    """Pay a request; return whether it could be paid."""
    try:
        pay(request)
    except PaymentError:
        return False
    return True


@pytest.mark.parametrize("turn", range(3))
def test_a_request_that_is_paid_and_voided_at_once_is_one_of_both(api: Api, turn: int) -> None:
    request = billed(api)
    path = f"/payment_requests/{request['id']}/void"
    calls = [lambda: paid_or_refused(request), lambda: Api(api.key).post(path, {"reason": "Sent twice"})]

    is_paid, voided = at_once(2, lambda number: calls[number]())

    after = shown(api, request)
    assert (after["paid"], after["voided"]) == (is_paid, not is_paid)
    assert voided.status_code == (409 if is_paid else 200)
    assert len(charges_of(request)) == is_paid
    assert event_types(api, request)[1:] == ["payment_request.succeeded" if is_paid else "payment_request.updated"]


def test_a_request_that_is_sent_again_and_paid_at_once_is_both(api: Api) -> None:
    request = billed(api)
    path = f"/payment_requests/{request['id']}/resend"
    calls = [lambda: paid_or_refused(request), lambda: Api(api.key).post(path).status_code]

    is_paid, status = at_once(2, lambda number: calls[number]())

    assert is_paid
    assert shown(api, request)["paid"]
    # It may have been paid before it could be sent again.
    assert status in (200, 409)
    found = made(api.get("/events/", object=request["id"]))["data"]
    assert [event["sequence"] for event in found] == list(range(len(found), 0, -1))


def test_of_many_resends_at_once_one_is_done(api: Api) -> None:
    request = billed(api)
    responses = at_once(6, lambda _: Api(api.key).post(f"/payment_requests/{request['id']}/resend"))
    assert statuses(responses) == {200: 1, 429: 5}
    assert {error_of(late)["code"] for late in responses if late.status_code == 429} == {"rate_limited"}


def test_of_many_voids_at_once_one_is_done(api: Api) -> None:
    request = billed(api)
    path = f"/payment_requests/{request['id']}/void"
    responses = at_once(6, lambda number: Api(api.key).post(path, {"reason": f"Reason {number}"}))
    assert statuses(responses) == {200: 1, 409: 5}


def test_requests_to_one_customer_at_once_have_numbers_of_their_own(api: Api) -> None:
    juan = customer(api)
    made_at_once = at_once(8, lambda _: billed(Api(api.key), customer=juan))
    assert sorted(request["number"][-4:] for request in made_at_once) == [f"{number:04d}" for number in range(1, 9)]


@pytest.mark.parametrize("turn", range(6))
def test_of_a_payer_and_workers_at_once_one_charges(api: Api, turn: int) -> None:
    request = collected(api)
    calls: list[Any] = [lambda: paid_or_refused(request), collect.collect_due, collect.collect_due]

    at_once(3, lambda number: calls[(number + turn) % 3]())

    assert shown(api, request)["paid"]
    [charge] = charges_of(request)
    assert shown(api, request)["collect"]["tries"] == (charge.initiator == "merchant")


def test_a_payer_waits_while_a_try_is_under_way(api: Api) -> None:
    request, slow = collected(api), Waits("create_payment")
    due = PaymentRequest.objects.select_related("checkout__merchant").get()
    with provider(slow), in_background(collect.collect_due):
        assert slow.asked.wait(60)
        # Another worker has read the row before.
        assert not collect._try(due)
        is_paid_by_payer, meanwhile = paid_or_refused(request), shown(api, request)["collect"]
        slow.proceed.set()
    assert (is_paid_by_payer, meanwhile["state"]) == (False, "trying")
    assert (shown(api, request)["paid"], len(charges_of(request))) == (True, 1)

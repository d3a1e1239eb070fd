"""Needs attention for operators, and what does not any more."""

from datetime import timedelta

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators import decide
from payments.models import Notification, Refund
from payments.overview.days import Days
from payments.overview.waiting import Pile, Waiting, waiting_for
from payments.quickstart.demo.story import Story
from tests.client import ANSWER_LOST, REFUNDS_WAIT, Api
from tests.operators.making import ALONE, person, proposed
from tests.overview.telling import tell


def now_waiting(currency: str = "PHP", *, livemode: bool = False, days: int = 7) -> Waiting:
    return waiting_for(livemode, currency, Days.until_today(days))


def ago(**time: float) -> timedelta:
    return timedelta(**time)


def test_nothing_waits_where_nothing_happened(shop: NewMerchant) -> None:
    nothing = Pile()
    assert now_waiting() == Waiting(nothing, nothing, nothing, nothing, nothing, nothing, 0, 0, 0, 0, 0)


def test_holds_count_with_their_amount_and_those_that_expire_soon_apart(shop: NewMerchant) -> None:
    now = clock.now()
    tell(shop.merchant, now - ago(days=1), hold=True, amount=300)
    tell(shop.merchant, now - ago(days=6), hold=True, amount=500)
    tell(shop.merchant, now - ago(days=6), Story.capture, hold=True)
    assert (now_waiting().held, now_waiting().expiring) == (Pile(2, 800), Pile(1, 500))


def test_each_currency_and_mode_has_its_own(shop: NewMerchant) -> None:
    tell(shop.merchant, clock.now() - ago(days=1), hold=True, amount=300, currency="JPY")
    assert now_waiting("JPY").held == Pile(1, 300)
    assert now_waiting("PHP").held == now_waiting("JPY", livemode=True).held == Pile()


def test_an_unknown_outcome_waits_until_it_is_known(shop: NewMerchant) -> None:
    moment = clock.now() - ago(minutes=1)
    tell(shop.merchant, moment, number=ANSWER_LOST, amount=700)
    tell(shop.merchant, moment, lambda story: story.look_up(story.book.outcome), number=ANSWER_LOST)
    assert now_waiting().unknown == Pile(1, 700)


def test_a_refund_waits_until_it_is_made_or_has_failed(shop: NewMerchant) -> None:
    moment = clock.now() - ago(minutes=1)
    tell(shop.merchant, moment, lambda story: story.refund(400), number=REFUNDS_WAIT)
    tell(shop.merchant, moment, lambda story: story.end_refund(story.refund(100)), number=REFUNDS_WAIT)
    assert Refund.objects.count() == 2
    assert now_waiting().refunds == Pile(1, 400)


def test_a_request_waits_for_a_second_person_until_it_is_decided(api: Api) -> None:
    api.charge()
    declined = proposed("refund", ALONE + 1)
    decide.decline(declined, person("ben", "finance"), "No")
    proposed("refund", ALONE + 2)
    assert now_waiting().requests == Pile(1, ALONE + 2)


def test_callbacks_fail_or_are_given_up(api: Api) -> None:
    urls = {"success": "https://a.example/", "fail": "https://a.example/", "notify": "https://a.example/kaha"}
    api.charge_source(api.source(redirect=urls))
    assert (now_waiting().failing, now_waiting().given_up) == (0, 0)
    failing, given_up = Notification.objects.order_by("id")[:2]
    Notification.objects.filter(id=failing.id).update(failures=1)
    Notification.objects.filter(id=given_up.id).update(state="exhausted", due_at=None)
    assert (now_waiting().failing, now_waiting().given_up) == (1, 1)

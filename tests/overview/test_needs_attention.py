"""Items that need attention, and when they no longer do."""

from datetime import timedelta

from payments import clock
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators import decide
from payments.models import Refund, Webhook
from payments.overview.days import Days
from payments.overview.needs_attention import Backlog, OpenItems, items_for
from payments.quickstart.demo.sales import Sale
from tests.client import ANSWER_LOST, REFUNDS_WAIT, Api
from tests.operators.factories import ALONE, person, proposed
from tests.overview.past_charges import make_past_charge


def now_waiting(currency: str = "PHP", *, livemode: bool = False, days: int = 7) -> OpenItems:
    return items_for(livemode, currency, Days.until_today(days))


def _end_refund(sale: Sale) -> None:
    sale.delay_refund(timedelta())
    sale.receive_message()


def ago(**time: float) -> timedelta:
    return timedelta(**time)


def test_a_new_shop_needs_no_attention(shop: NewMerchant) -> None:
    nothing = Backlog()
    assert now_waiting() == OpenItems(nothing, nothing, nothing, nothing, nothing, nothing, 0, 0, 0, 0, 0)


def test_holds_and_expiring_holds_have_their_number_and_amount(shop: NewMerchant) -> None:
    now = clock.now()
    make_past_charge(shop.merchant, now - ago(days=1), hold=True, amount=300)
    make_past_charge(shop.merchant, now - ago(days=6), hold=True, amount=500)
    make_past_charge(shop.merchant, now - ago(days=6), Sale.capture, hold=True)
    assert (now_waiting().held, now_waiting().expiring) == (Backlog(2, 800), Backlog(1, 500))


def test_each_currency_and_mode_has_its_own(shop: NewMerchant) -> None:
    make_past_charge(shop.merchant, clock.now() - ago(days=1), hold=True, amount=300, currency="JPY")
    assert now_waiting("JPY").held == Backlog(1, 300)
    assert now_waiting("PHP").held == now_waiting("JPY", livemode=True).held == Backlog()


def test_an_unknown_outcome_waits_until_it_is_known(shop: NewMerchant) -> None:
    moment = clock.now() - ago(minutes=1)
    make_past_charge(shop.merchant, moment, number=ANSWER_LOST, amount=700)
    make_past_charge(shop.merchant, moment, Sale.look_up, number=ANSWER_LOST)
    assert now_waiting().unknown == Backlog(1, 700)


def test_a_refund_waits_until_it_is_made_or_has_failed(shop: NewMerchant) -> None:
    moment = clock.now() - ago(minutes=1)
    make_past_charge(shop.merchant, moment, lambda sale: sale.refund(400), number=REFUNDS_WAIT)
    make_past_charge(shop.merchant, moment, lambda sale: sale.refund(100), _end_refund, number=REFUNDS_WAIT)
    assert Refund.objects.count() == 2
    assert now_waiting().refunds == Backlog(1, 400)


def test_a_request_waits_for_an_approver_until_it_is_decided(api: Api) -> None:
    api.charge()
    declined = proposed("refund", ALONE + 1)
    decide.decline(declined, person("ben", "finance"), "No")
    proposed("refund", ALONE + 2)
    assert now_waiting().requests == Backlog(1, ALONE + 2)


def test_webhooks_fail_or_are_given_up(api: Api) -> None:
    urls = {"success": "https://a.example/", "fail": "https://a.example/", "notify": "https://a.example/kaha"}
    api.charge_source(api.source(redirect=urls))
    assert (now_waiting().failing, now_waiting().given_up) == (0, 0)
    failing, given_up = Webhook.objects.order_by("id")[:2]
    Webhook.objects.filter(id=failing.id).update(failures=1)
    Webhook.objects.filter(id=given_up.id).update(state="exhausted", due_at=None)
    assert (now_waiting().failing, now_waiting().given_up) == (1, 1)

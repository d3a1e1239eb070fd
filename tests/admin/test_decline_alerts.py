"""Operators see alerts of too many declines: once for each sort and window, with the way to what is behind it."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from payments import clock
from payments.domain.merchants.api_keys import find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.risk import decline_alerts
from payments.ids import public_id
from payments.inbox.rows import decline_alerts as decline_alerts_of
from payments.models import ApiKey, AuditEntry, Charge, DeclineAlert, Merchant
from tests.admin.conftest import text_of, the_operator
from tests.admin.test_pages import list_of, page_of
from tests.checkout.cast import ADDRESS, SAVE_CARD, customer, opened, save
from tests.client import DECLINED, Api, made
from tests.factories import ApiKeyFactory, ChargeFactory
from tests.high_limits import MANY_DECLINES
from tests.staff.all_merchants import for_all

INDEX = reverse("admin:index")
ANNOUNCED = "were declined within"


def alert(**members: Any) -> DeclineAlert:
    """One of this hour, unless given otherwise."""
    of = {"merchant": members.pop("merchant")} if "merchant" in members else {}
    charge = members.pop("charge", None) or ChargeFactory(is_failed=True, **of)
    now = clock.now()
    own = {"livemode": False, "kind": "card", "subject": "Visa …0002", "quota": 3}
    window = {"window_starts_at": now, "window_ends_at": now + timedelta(hours=1)}
    return DeclineAlert.objects.create(
        charge=charge, source=charge.source, **{"merchant": charge.merchant, **own, **window, **members}
    )


@pytest.mark.parametrize("kind", ["card", "address", "key", "merchant"])
def test_the_decline_that_reaches_a_limit_leaves_one_alert(api: Api, settings: Settings, kind: str) -> None:
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES | {kind: 2}
    api.charge(DECLINED)
    assert not DeclineAlert.objects.exists()
    last = api.charge(DECLINED)
    assert api.post("/charges/", {"amount": 1, "source": api.source(DECLINED), "description": "x"}).status_code == 429
    kept = DeclineAlert.objects.get()
    subject = {"card": "Visa …0002", "address": "127.0.0.1", "key": public_id("key", find_key(api.key).id)}
    assert (kept.kind, kept.subject, kept.quota, kept.livemode) == (kind, subject.get(kind, ""), 2, False)
    assert public_id("ch", kept.charge_id) == last["id"]
    assert kept.window_starts_at <= kept.created_at < kept.window_ends_at


def test_two_keys_in_one_window_are_one_alert_and_another_window_is_another(
    shop: NewMerchant, settings: Settings
) -> None:
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES | {"key": 1}
    keys = [ApiKeyFactory(merchant=shop.merchant) for _ in range(2)]
    for key in keys:
        Api(key.text).charge(DECLINED)
    assert [kept.subject for kept in DeclineAlert.objects.all()] == [public_id("key", keys[0].id)]
    settings.DECLINE_WINDOW_MINUTES = 1
    Api(keys[0].text).charge(DECLINED)
    assert DeclineAlert.objects.count() == 2


def test_a_declined_check_of_a_card_to_be_kept_that_reaches_a_limit_leaves_an_alert(
    api: Api, operator: Client, settings: Settings
) -> None:
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES | {"address": 2}
    session = opened(api, **SAVE_CARD, customer=customer(api))
    for _ in range(2):
        save(session, DECLINED)
    kept = DeclineAlert.objects.get()
    assert (kept.kind, kept.subject, kept.charge) == ("address", ADDRESS, None)
    assert f'href="{page_of(kept.source)}"' in text_of(operator.get(page_of(kept)))
    block = text_of(operator.get(reverse("admin:payments_declinealert_block", args=[kept.pk])))
    assert f"Every call from {ADDRESS}" in block


@pytest.mark.django_db(transaction=True)
def test_an_alert_that_cannot_be_kept_fails_no_charge(api: Api, settings: Settings) -> None:
    settings.DECLINE_LIMITS_TEST = MANY_DECLINES | {"card": 1}
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE payments_declinealert ADD CONSTRAINT never_kept CHECK (quota > 1)")
    try:
        assert api.charge(DECLINED)["status"] == "failed"
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE payments_declinealert DROP CONSTRAINT never_kept")
    assert Charge.objects.get().status == "failed"


def test_an_alert_is_shown_on_every_page_with_the_way_to_it(operator: Client) -> None:
    kept = alert()
    for address in (INDEX, list_of(Charge), page_of(kept.merchant), reverse("admin:password_change")):
        text = text_of(operator.get(address))
        assert f"on one card (Visa …0002) {ANNOUNCED} 1\N{NO-BREAK SPACE}hour at {kept.merchant.title}" in text, address
        assert page_of(kept) in text, address


def test_its_page_leads_to_the_charge_the_merchant_and_the_key(operator: Client) -> None:
    key = ApiKeyFactory()
    kept = alert(merchant=key.merchant, kind="key", subject=public_id("key", key.id))
    text = text_of(operator.get(page_of(kept)))
    for row in (kept.charge, kept.source, key.merchant, ApiKey.objects.get(id=key.id)):
        assert f'href="{page_of(row)}"' in text


def test_from_an_alert_of_an_address_it_is_blocked_in_two_clicks(operator: Client, api: Api) -> None:
    kept = alert(kind="address", subject="127.0.0.1", merchant=Merchant.objects.get())
    page = reverse("admin:payments_declinealert_block", args=[kept.pk])
    assert f'href="{page}"' in text_of(operator.get(page_of(kept)))
    assert "Every call from 127.0.0.1" in text_of(operator.get(page))
    operator.post(page, {"what": "address", "merchant": kept.merchant_id, "lasts": "1", "reason": "Card testing"})
    assert api.charge()["status"] == "failed"


def test_an_alert_of_a_card_offers_no_address(operator: Client) -> None:
    kept = alert()
    assert "Every call from" not in text_of(operator.get(reverse("admin:payments_declinealert_block", args=[kept.pk])))


def test_alerts_are_found_by_merchant_subject_and_charge(operator: Client) -> None:
    kept, other = alert(subject="192.0.2.7", kind="address"), alert()
    charge = public_id("ch", kept.charge_id)
    for term in (public_id("mer", kept.merchant_id), kept.merchant.title, "192.0.2.7", charge):
        results = text_of(operator.get(list_of(DeclineAlert), {"q": term})).partition("result_list")[2]
        assert (page_of(kept) in results, page_of(other) in results) == (True, False), term


@pytest.mark.parametrize(("hours", "announced"), [(23, True), (25, False)])
def test_an_alert_is_shown_for_a_day(hours: int, announced: bool, operator: Client) -> None:
    alert(created_at=clock.now() - timedelta(hours=hours))
    assert (ANNOUNCED in text_of(operator.get(INDEX))) == announced


def test_of_many_alerts_the_newest_three_are_shown(operator: Client) -> None:
    kept = [alert(created_at=clock.now() - timedelta(minutes=number)) for number in range(4)]
    text = text_of(operator.get(list_of(Charge)))
    assert [page_of(each) in text for each in kept] == [True, True, True, False]
    assert list_of(DeclineAlert) in text.partition("There are more such alerts")[2].partition("</li>")[0]


def test_an_operator_who_may_not_look_at_alerts_is_shown_without_the_way(db: None) -> None:
    kept = alert()
    looker = for_all(User.objects.create(username="looker", is_staff=True))
    client = Client()
    client.force_login(looker)
    text = text_of(client.get(INDEX))
    assert ANNOUNCED in text
    assert page_of(kept) not in text
    looker.user_permissions.add(Permission.objects.get(codename="view_declinealert"))
    assert page_of(kept) in text_of(client.get(INDEX))


def test_an_anonymous_visitor_is_shown_nothing(db: None, client: Client) -> None:
    alert()
    assert ANNOUNCED not in text_of(client.get(reverse("admin:login")))


def test_however_many_alerts_there_are_they_cost_one_statement(operator: Client) -> None:
    operator.get(INDEX)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            operator.get(reverse("admin:password_change"))
        counts.append(sum("declinealert" in query["sql"] for query in captured))
        for _ in range(4):
            alert()
    assert counts == [1, 1]


def test_the_page_of_a_merchant_shows_its_budget(operator: Client, shop: NewMerchant) -> None:
    Merchant.objects.update(decline_budget=4321)
    assert "4321" in text_of(operator.get(page_of(shop.merchant)))
    assert "decline_budget" not in made(Api(shop.keys["sk_test"]).get("/me"))


def test_an_alert_is_acknowledged_once_by_name_and_leaves_the_pages(operator: Client, shop: NewMerchant) -> None:
    made_alert = alert()
    address = reverse("admin:payments_declinealert_acknowledge", args=[made_alert.pk])
    assert ANNOUNCED in text_of(operator.get(INDEX))
    operator.post(address, {"reason": "The merchant knows"})
    made_alert.refresh_from_db()
    assert made_alert.acknowledged_by == the_operator()
    assert AuditEntry.objects.filter(action="acknowledged", reason="The merchant knows").count() == 1
    assert ANNOUNCED not in text_of(operator.get(INDEX))
    assert not list(decline_alerts_of(None))
    with pytest.raises(decline_alerts.AlreadyAcknowledged):
        decline_alerts.acknowledge(made_alert, the_operator(), "Again")


def test_an_alert_is_over_after_a_whole_window_without_another_one(shop: NewMerchant) -> None:
    now, hour = clock.now(), timedelta(hours=1)
    first = alert()
    following = {"window_starts_at": first.window_ends_at, "window_ends_at": first.window_ends_at + hour}
    alert(charge=first.charge, **following)
    for later, over in ((hour, 0), (2.5 * hour, 0), (3 * hour + timedelta(minutes=1), 2)):
        with clock.at(now + later):
            assert decline_alerts.end_over() == over
    assert not DeclineAlert.objects.filter(over_at=None).exists()


def test_the_page_leads_to_a_block_of_the_payer(operator: Client, shop: NewMerchant) -> None:
    made_alert = alert()
    address = reverse("admin:payments_declinealert_block", args=[made_alert.pk])
    assert address in text_of(operator.get(page_of(made_alert)))

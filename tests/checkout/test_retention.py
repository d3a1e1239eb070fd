"""How long a checkout is kept: its whole life and EVENTS_KEEP_DAYS, and as long as its charges, or its kept card."""

from datetime import timedelta
from typing import Any

import pytest

from payments import clock
from payments.db.writes import delete_in_batches
from payments.domain.checkout import sessions
from payments.domain.maintenance import retention
from payments.ids import first_id, parse_id, public_id
from payments.models import Charge, Checkout, SearchEntry, Source
from payments.search.sweep import rebuild
from tests.checkout.cast import SAVE_CARD, customer, opened, pay, save
from tests.client import DECLINED, Api, made

pytestmark = pytest.mark.django_db
KEPT = timedelta(days=31)


@pytest.fixture(autouse=True)
def a_short_time(settings: Any) -> None:
    settings.EVENTS_KEEP_DAYS = KEPT.days


def made_before(session: dict[str, Any], age: timedelta) -> None:
    """Have the session, which has no charge, be so old."""
    old = first_id(clock.now() - age)
    Checkout.objects.filter(id=parse_id("cs", session["id"])).update(id=old)


def expired(api: Api) -> dict[str, Any]:
    session = opened(api)
    api.post(f"/checkout_sessions/{session['id']}/expire")
    return session


def test_an_expired_session_that_nobody_tried_to_pay_is_deleted_with_its_search_entry(api: Api) -> None:
    made_before(expired(api), KEPT + sessions.LIFE + timedelta(minutes=1))
    rebuild()
    assert SearchEntry.objects.filter(kind="checkout").count() == 1
    assert retention.delete_old_rows() == 2
    assert not Checkout.objects.exists()
    assert not SearchEntry.objects.exists()


def test_it_is_kept_until_the_last_day_counted_from_its_end(api: Api) -> None:
    made_before(expired(api), KEPT + sessions.LIFE - timedelta(minutes=1))
    assert retention.delete_old_rows() == 0
    assert Checkout.objects.exists()


@pytest.mark.parametrize("state", ["unpaid", "paying", "paid"])
def test_a_session_in_another_state_is_kept(state: str, api: Api) -> None:
    made_before(opened(api), timedelta(days=400))
    Checkout.objects.update(state=state)
    assert retention.delete_old_rows() == 0


def test_a_session_with_a_declined_charge_is_kept_with_it(api: Api) -> None:
    session = opened(api)
    pay(session, DECLINED)
    api.post(f"/checkout_sessions/{session['id']}/expire")
    with clock.at(clock.now() + timedelta(days=400)):
        assert retention.delete_old_rows() == 0
    assert Charge.objects.get().checkout_id == parse_id("cs", session["id"])


def test_a_session_whose_card_was_not_kept_is_deleted_with_what_its_payer_gave(api: Api) -> None:
    session = opened(api, **SAVE_CARD)
    save(session, DECLINED, email="maria@example.com")
    api.post(f"/checkout_sessions/{session['id']}/expire")
    assert Checkout.objects.get().payer == {"email": "maria@example.com"}
    with clock.at(clock.now() + timedelta(days=400)):
        assert retention.delete_old_rows() == 1


def test_a_session_is_kept_with_its_card_which_takes_a_consent_as_long(api: Api) -> None:
    buyer = customer(api)
    save(opened(api, **SAVE_CARD, customer=buyer))
    source = public_id("src", Source.objects.get().id)
    with clock.at(clock.now() + timedelta(days=400)):
        retention.delete_old_rows()
    made(api.post(f"/customers/{buyer}/sources", {"source": source, "consent": {"text": "x", "at": "2026-11-20"}}))


def test_a_session_whose_card_was_given_up_is_deleted(api: Api) -> None:
    buyer = customer(api)
    save(opened(api, **SAVE_CARD, customer=buyer))
    made(api.delete(f"/customers/{buyer}/sources/{public_id('src', Source.objects.get().id)}"))
    with clock.at(clock.now() + timedelta(days=400)):
        assert retention.delete_old_rows() == 1


def test_many_are_deleted_in_batches(api: Api) -> None:
    for number in range(3):
        made_before(expired(api), timedelta(days=400 + number))
    assert delete_in_batches(retention.CHECKOUTS.old(clock.now()), batch=1) == 3

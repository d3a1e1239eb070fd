"""Cards that a session only keeps are checked by a payment of nothing, whose outcome may be unknown for a while."""

from datetime import timedelta
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.checkout import card_checks, sessions
from payments.domain.shared.errors import PaymentError
from payments.models import Card, Charge, Checkout, Source
from payments.providers.base import Capabilities, NotSent, Pending, Rejected, Unknown
from payments.providers.simulator.models import Entry, SimulatedPayment
from tests.charging.doubles import Double, provider
from tests.checkout.cast import SAVE_CARD, customer, opened, row_of, save, shown
from tests.client import ANSWER_LOST, APPROVED, DECLINED, NEVER_ARRIVES, STOLEN, Api, error_of, made
from tests.risk.factories import block_card

pytestmark = pytest.mark.django_db
SOON = timedelta(minutes=2)


@pytest.fixture
def session(api: Api) -> dict[str, Any]:
    return opened(api, **SAVE_CARD, customer=customer(api))


def kept(api: Api, session: dict[str, Any]) -> list[dict[str, Any]]:
    sources: list[dict[str, Any]] = made(api.get(f"/customers/{session['customer']}"))["sources"]
    return sources


def state_of(session: dict[str, Any]) -> tuple[str, int]:
    row = row_of(session)
    return row.state, row.attempts


def look_up_soon() -> None:
    with clock.at(clock.now() + SOON):
        assert card_checks.resolve_due() == 1


def test_a_checked_card_is_charged_without_its_payer(api: Api, session: dict[str, Any]) -> None:
    save(session)
    [source] = kept(api, session)
    assert source["card"]["checked"] is True
    assert source["card"]["cvc_checked"] == "pass"
    assert shown(api, session)["payment_status"] == "paid"
    assert Charge.objects.count() == Entry.objects.count() == 0
    assert api.charge_source(source["id"], initiator="merchant", schedule="recurring")["status"] == "succeeded"


def test_the_networks_reference_of_the_check_is_kept_and_its_security_code_is_not(session: dict[str, Any]) -> None:
    save(session)
    check = SimulatedPayment.objects.get()
    row = Card.objects.get()
    assert (check.amount, row.network_reference) == (0, f"nt_{check.id.hex}")
    assert (row.sealed_cvc, row.number_expires_at) == (None, None)


def test_a_declined_card_is_not_kept_and_the_payer_chooses_again(api: Api, session: dict[str, Any]) -> None:
    assert save(session, DECLINED).check_code == "card_declined"
    assert state_of(session) == ("unpaid", 1)
    assert not Card.objects.filter(sealed_number__isnull=False).exists()
    save(session)
    assert state_of(session) == ("paid", 2)
    assert len(kept(api, session)) == 1


def test_a_check_that_the_provider_refuses_keeps_no_card(session: dict[str, Any]) -> None:
    with provider(Double(create_payment=Rejected("no", "not set up"))):
        assert save(session).check_code == "processing_error"
    assert state_of(session) == ("unpaid", 1)


def test_a_check_that_was_certainly_not_made_leaves_the_session_unpaid(session: dict[str, Any]) -> None:
    with provider(Double(create_payment=NotSent("refused"))), pytest.raises(PaymentError) as refused:
        save(session)
    assert refused.value.code == "provider_unavailable"
    assert state_of(session) == ("unpaid", 1)


@pytest.mark.parametrize("answer", [Unknown("time-out"), Pending("P1")], ids=["unknown", "pending"])
def test_nothing_else_begins_while_the_outcome_is_unknown(api: Api, session: dict[str, Any], answer: Any) -> None:
    with provider(Double(create_payment=answer)):
        save(session)
    assert state_of(session) == ("paying", 1)
    with pytest.raises(PaymentError):
        save(session)
    assert error_of(api.post(f"/checkout_sessions/{session['id']}/expire"))["code"] == "session_busy"
    assert kept(api, session) == []


def test_a_check_whose_answer_was_lost_is_found_out(api: Api, session: dict[str, Any]) -> None:
    save(session, ANSWER_LOST)
    assert (state_of(session), card_checks.resolve_due()) == (("paying", 1), 0)
    look_up_soon()
    assert state_of(session) == ("paid", 1)
    assert kept(api, session)[0]["card"]["checked"] is True


def test_a_check_that_never_arrived_lets_the_payer_choose_again(session: dict[str, Any]) -> None:
    save(session, NEVER_ARRIVES)
    look_up_soon()
    assert state_of(session) == ("unpaid", 1)
    assert not Card.objects.filter(sealed_number__isnull=False).exists()


@pytest.mark.parametrize("answer", [Unknown("time-out"), NotSent("refused"), Rejected("gone")])
def test_a_lookup_without_an_answer_is_made_again_later(session: dict[str, Any], answer: Any) -> None:
    save(session, ANSWER_LOST)
    with provider(Double(resolve=answer)):
        look_up_soon()
    due_at = Checkout.objects.get().check_due_at
    assert due_at is not None
    assert due_at > clock.now() + SOON
    assert state_of(session) == ("paying", 1)


def test_a_check_that_stays_unknown_is_given_up_with_its_session(session: dict[str, Any]) -> None:
    save(session, ANSWER_LOST)
    with provider(Double(resolve=Unknown("time-out"))), clock.at(clock.now() + timedelta(days=1, minutes=1)):
        assert sessions.expire_due() == 0
        card_checks.resolve_due()
    assert state_of(session) == ("expired", 1)
    assert not Source.objects.filter(vaulted=True).exists()
    assert not Card.objects.filter(sealed_number__isnull=False).exists()


def test_a_provider_that_cannot_check_keeps_the_card_as_never_checked(api: Api, session: dict[str, Any]) -> None:
    with provider(Double(capabilities=Capabilities(hold=True))):
        save(session)
    assert state_of(session) == ("paid", 1)
    assert kept(api, session)[0]["card"]["checked"] is False
    assert not SimulatedPayment.objects.exists()


def test_a_blocked_card_is_not_kept_where_no_provider_checks_cards(api: Api, session: dict[str, Any]) -> None:
    block_card(APPROVED)
    with provider(Double(capabilities=Capabilities(hold=True))):
        assert save(session).check_code == "card_declined"
    assert state_of(session) == ("unpaid", 1)
    assert kept(api, session) == []
    assert not Card.objects.filter(sealed_number__isnull=False).exists()


def test_a_card_that_its_check_said_is_never_approved_is_not_charged_where_it_is_kept(
    api: Api, session: dict[str, Any]
) -> None:
    source = api.source(STOLEN)
    made(api.post(f"/customers/{session['customer']}/sources", {"source": source}))
    save(session, STOLEN)
    order = {"amount": 10_000, "currency": "PHP", "source": source, "description": "Halo-halo"}
    assert error_of(api.post("/charges/", order))["code"] == "retry_not_allowed"


def test_declined_checks_count_in_the_limits_on_declines(
    session: dict[str, Any], settings: Settings, noon: None
) -> None:
    settings.DECLINE_LIMITS_TEST = {"card": 100, "address": 1, "key": 100, "merchant": 100}
    save(session, DECLINED)
    with pytest.raises(PaymentError) as refused:
        save(session)
    assert refused.value.code == "rate_limited"

"""Cards to be kept whose issuer asks the payer first (3-D Secure): they go to its page, come back, or never do."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError
from django.test import Client
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.checkout import card_checks, payments, sessions
from payments.domain.shared.errors import PaymentError
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Card, Charge, Checkout, Source
from payments.providers.base import ActionRequired, NotSent, Pending, Unknown
from payments.providers.simulator.connector import Simulator
from payments.tasks import run_sweep
from tests.charging.doubles import Double, provider
from tests.checkout.cast import ADDRESS, SAVE_CARD, customer, opened, row_of, save, shown
from tests.client import ANSWER_LOST, CHALLENGED, DECLINED, Api, error_of, made
from tests.pages.checkout_page import page_of, send, text_of
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db
AN_HOUR = timedelta(minutes=61)
WAITS = "You have not confirmed this card yet"


@pytest.fixture
def session(api: Api) -> dict[str, Any]:
    return opened(api, **SAVE_CARD, customer=customer(api))


@pytest.fixture
def bank(client: Client, session: dict[str, Any]) -> str:
    """Return the path of the issuer's page to which the payer of `session` was sent."""
    return path_of(send(client, session, CHALLENGED)["Location"])


def decided(client: Client, bank: str, decision: str) -> str:
    """Return where the payer is led who has decided at the issuer's page."""
    return str(client.post(bank, {"decision": decision})["Location"])


def come_back(client: Client, session: dict[str, Any], **brought: str) -> str:
    """Return where the payer is led who comes back from the issuer's page."""
    return str(
        client.get(page_of(session) + "/done", {"attempt": str(row_of(session).attempts), **brought})["Location"]
    )


def kept(api: Api, session: dict[str, Any]) -> list[dict[str, Any]]:
    return list(made(api.get(f"/customers/{session['customer']}"))["sources"])


def state_of(session: dict[str, Any]) -> tuple[str, int, str]:
    row = row_of(session)
    return row.state, row.attempts, row.check_code


def broken() -> list[str]:
    """Return the invariants of the money that do not hold."""
    return [failure["name"] for failure in checks.run(INVARIANTS).failures]


def test_a_payer_who_confirms_at_the_issuer_has_the_card_kept(
    client: Client, api: Api, session: dict[str, Any], bank: str
) -> None:
    assert "Sari Store" in client.get(bank).content.decode()
    assert decided(client, bank, "pay") == session["payment_url"] + "/done?attempt=1"
    assert kept(api, session) == []
    assert come_back(client, session) == session["success_url"]
    [source] = kept(api, session)
    assert (source["card"]["checked"], source["card"]["cvc_checked"]) == (True, "pass")
    assert Card.objects.get().network_reference
    assert not Card.objects.filter(sealed_cvc__isnull=False).exists()
    assert Charge.objects.count() == 0
    assert api.charge_source(source["id"], initiator="merchant")["status"] == "succeeded"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("decision", "code", "reason"),
    [
        ("fail", "authentication_failed", "Your bank could not confirm that it was you"),
        ("cancel", "payer_cancelled", "You did not confirm the card"),
    ],
)
def test_a_payer_who_fails_or_cancels_is_asked_for_another_card(
    client: Client, api: Api, session: dict[str, Any], bank: str, decision: str, code: str, reason: str
) -> None:
    assert broken() == []
    decided(client, bank, decision)
    assert come_back(client, session) == session["payment_url"]
    assert state_of(session) == ("unpaid", 1, code)
    assert broken() == []
    assert reason in text_of(client, session)
    assert not Card.objects.filter(sealed_number__isnull=False).exists()
    save(session)
    assert (state_of(session), len(kept(api, session)), broken()) == (("paid", 2, ""), 1, [])


@pytest.mark.parametrize("decision", ["pay", "fail"])
def test_a_payer_who_decides_and_never_comes_back_is_reported(
    client: Client, session: dict[str, Any], bank: str, decision: str
) -> None:
    decided(client, bank, decision)
    run_sweep("apply_simulator_messages")
    assert state_of(session)[0] == ("paid" if decision == "pay" else "unpaid")
    assert come_back(client, session) == session["success_url" if decision == "pay" else "payment_url"]


def test_a_session_without_authentication_asks_no_payer(api: Api) -> None:
    session = opened(api, **SAVE_CARD, customer=customer(api), require_auth=False)
    assert save(session, CHALLENGED).state == "paid"


def test_a_payer_who_comes_back_undecided_is_shown_the_way_to_the_issuer(
    client: Client, api: Api, session: dict[str, Any], bank: str
) -> None:
    assert come_back(client, session) == session["payment_url"]
    text = text_of(client, session)
    assert bank in text
    assert WAITS in text
    assert error_of(api.post(f"/checkout_sessions/{session['id']}/expire"))["code"] == "session_busy"


def test_a_payer_who_leaves_the_issuer_may_choose_another_card(
    client: Client, api: Api, session: dict[str, Any], bank: str
) -> None:
    client.post(page_of(session), {"otherwise": "1"})
    assert state_of(session) == ("unpaid", 1, "payer_cancelled")
    send(client, session, attempt="1")
    assert (state_of(session)[:2], len(kept(api, session))) == (("paid", 2), 1)
    # The page of the first card is still open in another tab.
    decided(client, bank, "pay")
    run_sweep("apply_simulator_messages")
    assert come_back(client, session) == session["success_url"]
    assert len(kept(api, session)) == 1


def test_an_earlier_card_s_page_neither_gives_up_nor_ends_the_check_of_the_next(
    client: Client, session: dict[str, Any], bank: str
) -> None:
    client.post(page_of(session), {"otherwise": "1"})
    save(session, CHALLENGED)
    client.post(page_of(session), {"otherwise": "1"})
    come_back(client, session, attempt="1")
    row = row_of(session)
    assert (row.state, row.attempts, bool(row.check_url)) == ("paying", 2, True)


def test_who_has_confirmed_and_chooses_otherwise_has_the_card_kept_all_the_same(
    client: Client, api: Api, session: dict[str, Any], bank: str
) -> None:
    decided(client, bank, "pay")
    client.post(page_of(session), {"otherwise": "1"})
    assert (state_of(session)[0], len(kept(api, session))) == ("paid", 1)


def test_a_payer_who_never_comes_back_leaves_the_session_unpaid(session: dict[str, Any], bank: str) -> None:
    assert card_checks.resolve_due() == 0
    with clock.at(clock.now() + AN_HOUR):
        card_checks.resolve_due()
        assert state_of(session) == ("unpaid", 1, "action_expired")
    assert not Card.objects.filter(sealed_number__isnull=False).exists()


@pytest.mark.parametrize("answer", [ActionRequired("P1", "https://bank.example"), Pending("P1")])
def test_a_provider_that_waits_longer_does_not_keep_the_session(session: dict[str, Any], answer: Any) -> None:
    save(session, CHALLENGED)
    with provider(Double(resolve=answer)), clock.at(clock.now() + AN_HOUR):
        card_checks.resolve_due()
    assert state_of(session) == ("unpaid", 1, "action_expired")


@pytest.mark.parametrize("answer", [Unknown("time-out"), NotSent("the payer brought nothing"), Pending("P1")])
def test_a_return_without_an_outcome_is_looked_up(
    client: Client, session: dict[str, Any], bank: str, answer: Any
) -> None:
    with clock.at(clock.now() + timedelta(minutes=20)):
        decided(client, bank, "pay")
        with provider(Double(continue_payment=answer)):
            assert come_back(client, session) == session["payment_url"]
        assert (state_of(session)[0], WAITS in text_of(client, session)) == ("paying", False)
    with clock.at(clock.now() + timedelta(minutes=21)):
        assert card_checks.resolve_due() == 1
    assert state_of(session)[0] == "paid"


def test_a_challenge_whose_answer_was_lost_is_found_out_and_shown(client: Client, session: dict[str, Any]) -> None:
    with provider(Double(create_payment=lambda do, _: do() and Unknown("lost"))):
        assert save(session, CHALLENGED).check_url == ""
    with clock.at(clock.now() + timedelta(minutes=1)):
        card_checks.resolve_due()
        assert "/simulator/pay/" in text_of(client, session)


def test_a_session_whose_time_is_over_at_the_issuer_is_completed_in_time(
    client: Client, session: dict[str, Any], bank: str
) -> None:
    Checkout.objects.update(expires_at=clock.now())
    assert sessions.expire_due() == 0
    decided(client, bank, "pay")
    assert come_back(client, session) == session["success_url"]


def test_a_session_whose_time_is_over_ends_when_the_payer_has_not_come(
    api: Api, session: dict[str, Any], bank: str
) -> None:
    Checkout.objects.update(expires_at=clock.now())
    with clock.at(clock.now() + AN_HOUR):
        card_checks.resolve_due()
        assert sessions.expire_due() == 1
    assert shown(api, session)["payment_status"] == "expired"


def test_coming_back_twice_keeps_the_card_once(client: Client, api: Api, session: dict[str, Any], bank: str) -> None:
    decided(client, bank, "pay")
    assert {come_back(client, session) for _ in range(3)} == {session["success_url"]}
    assert len(kept(api, session)) == 1


def test_the_return_of_another_session_proves_nothing(client: Client, api: Api, session: dict[str, Any]) -> None:
    other = opened(api, **SAVE_CARD, customer=session["customer"])
    bank, others = (path_of(send(client, each, CHALLENGED)["Location"]) for each in (session, other))
    assert bank != others
    decided(client, others, "pay")
    assert come_back(client, session, redirectResult="that of the other") == session["payment_url"]
    assert (state_of(session)[0], state_of(other)[0]) == ("paying", "paying")
    assert come_back(client, other) == other["success_url"]


def test_a_session_in_another_state_takes_no_return(client: Client, api: Api) -> None:
    session = opened(api, **SAVE_CARD, customer=customer(api))
    assert come_back(client, session) == session["payment_url"]
    save(session, DECLINED)
    assert come_back(client, session) == session["payment_url"]
    assert state_of(session) == ("unpaid", 1, "card_declined")


def test_the_source_under_check_can_be_neither_charged_nor_attached(
    api: Api, session: dict[str, Any], bank: str
) -> None:
    source = f"src_{Source.objects.get().id.hex}"
    order = {"amount": 10_000, "source": source, "description": "x"}
    assert error_of(api.post("/charges/", order))["code"] == "source_already_used"
    attached = api.post(f"/customers/{session['customer']}/sources", {"source": source})
    assert error_of(attached)["code"] == "source_already_used"


def test_a_message_about_an_earlier_card_changes_nothing(client: Client, session: dict[str, Any], bank: str) -> None:
    client.post(page_of(session), {"otherwise": "1"})
    save(session, ANSWER_LOST)
    decided(client, bank, "pay")
    run_sweep("apply_simulator_messages")
    assert state_of(session)[:2] == ("paying", 2)


def test_challenges_that_fail_count_in_the_limits_on_declines(
    noon: None, client: Client, session: dict[str, Any], bank: str, settings: Settings
) -> None:
    settings.DECLINE_LIMITS_TEST = {"card": 1, "address": 100, "key": 100, "merchant": 100}
    decided(client, bank, "fail")
    come_back(client, session)
    with pytest.raises(PaymentError) as refused:
        save(session, CHALLENGED)
    assert refused.value.code == "rate_limited"


def test_the_issuers_page_is_there_only_while_the_check_is_under_way(session: dict[str, Any], bank: str) -> None:
    with pytest.raises(IntegrityError, match="checkout_follows_rules"):
        Checkout.objects.update(state="unpaid", check_due_at=None)


def test_giving_up_while_the_payer_comes_back_leaves_the_outcome_to_the_first(session: dict[str, Any]) -> None:
    save(session, CHALLENGED)
    late = row_of(session)

    def meanwhile(do: Any, asked: object) -> Any:
        # The row was read before the return was taken.
        payments.give_up(late)
        return do()

    with provider(Double(continue_payment=meanwhile)):
        payments.come_back(row_of(session), {}, ADDRESS)
    assert state_of(session)[:2] == ("paying", 1)


@pytest.mark.django_db(transaction=True)
def test_an_outcome_of_a_card_that_was_given_up_meanwhile_is_not_the_next_cards(
    api: Api, session: dict[str, Any]
) -> None:
    save(session, CHALLENGED)
    row = row_of(session)

    def meanwhile(do: Any, asked: Any) -> Any:
        # Its lease and the payer's hour are over, and the payer has chosen another card.
        Checkout.objects.update(check_due_at=clock.now())
        with provider(Double(resolve=ActionRequired("P1", "https://bank.example"))), clock.at(clock.now() + AN_HOUR):
            card_checks.resolve_due()
            card_checks.resolve_due()
        save(session, CHALLENGED)
        page = Simulator().resolve(asked)
        assert isinstance(page, ActionRequired)
        Client().post(path_of(page.url), {"decision": "pay"})
        return do()

    with provider(Double(continue_payment=meanwhile)):
        payments.come_back(row, {}, ADDRESS)
    assert (state_of(session)[:2], kept(api, session)) == (("paying", 2), [])

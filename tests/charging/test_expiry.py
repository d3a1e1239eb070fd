"""What runs out by itself: actions, holds, CVCs, idempotency keys."""

from datetime import timedelta

from payments import clock
from payments.domain.charging import expiry
from payments.domain.maintenance.retention import delete_old_rows
from payments.ids import first_id, parse_id
from payments.models import Card, Charge, IdempotencyRecord
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import let_time_pass, recover
from tests.client import ANSWER_LOST, CHALLENGED, Api, error_of, made
from tests.contract.calls import order, vaulted


def test_an_expired_action_fails_the_charge_and_ends_the_payment_at_the_provider(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    let_time_pass(Charge, "action_expires_at")
    recover()

    failed = api.read(charge)
    assert (failed["status"], failed["failure_data"]["code"]) == ("failed", "action_expired")
    assert "action" not in failed
    assert SimulatedPayment.objects.get().state == "cancelled"


def test_an_expired_hold_is_released_at_the_provider(api: Api) -> None:
    charge = api.held()
    assert expiry.void_expired_holds() == 0
    let_time_pass(Charge, "hold_expires_at")

    assert expiry.void_expired_holds() == 1

    after = api.read(charge)
    assert (after["status"], after["authorized"]) == ("voided", False)
    assert SimulatedPayment.objects.get().state == "voided"


def test_the_cvc_and_the_number_of_a_single_use_card_are_destroyed_with_the_outcome(api: Api) -> None:
    source = api.source()
    assert Card.objects.get().sealed_cvc is not None

    api.charge_source(source)

    card = Card.objects.get()
    assert (card.sealed_cvc, card.sealed_number, card.cvc_expires_at) == (None, None, None)


def test_the_cvc_is_kept_while_the_outcome_is_unknown(api: Api) -> None:
    api.charge(ANSWER_LOST)
    assert Card.objects.get().sealed_cvc is not None

    recover()

    assert Card.objects.get().sealed_cvc is None


def test_an_unused_cvc_is_destroyed_after_an_hour(api: Api) -> None:
    source = api.source()
    assert expiry.destroy_unused_cvcs() == 0
    let_time_pass(Card, "cvc_expires_at")

    assert expiry.destroy_unused_cvcs() == 1

    card = Card.objects.get(source_id=parse_id("src", source))
    assert card.sealed_cvc is None
    assert card.sealed_number is not None


def test_the_number_of_a_card_that_nobody_used_is_destroyed_and_the_source_refused(api: Api) -> None:
    source = api.source()
    assert expiry.destroy_unused_numbers() == 0
    let_time_pass(Card, "number_expires_at")

    assert expiry.destroy_unused_numbers() == 1

    assert (Card.objects.get().sealed_number, Card.objects.get().number_expires_at) == (None, None)
    customer = made(api.post("/customers/", {"email": "ana@shop.example", "description": "Ana"}))
    charged = api.post("/charges/", order(source))
    kept = api.post(f"/customers/{customer['id']}/sources", {"source": source})
    assert [(answer.status_code, error_of(answer)["code"]) for answer in (charged, kept)] == [
        (409, "source_expired")
    ] * 2
    assert not Charge.objects.exists()


def test_the_number_of_a_card_whose_charge_is_under_way_or_that_is_kept_stays(api: Api) -> None:
    api.charge(CHALLENGED)
    vaulted(api)
    let_time_pass(Card, "number_expires_at")

    assert expiry.destroy_unused_numbers() == 0

    assert not Card.objects.filter(sealed_number=None).exists()


def test_a_charge_under_way_keeps_the_number_of_no_other_card(api: Api) -> None:
    api.charge(CHALLENGED)
    unused = api.source()
    let_time_pass(Card, "number_expires_at")

    assert expiry.destroy_unused_numbers() == 1

    assert Card.objects.get(sealed_number=None).source_id == parse_id("src", unused)


def test_only_answered_keys_that_are_old_are_purged(api: Api) -> None:
    api.post("/sources/", {"type": "gcash"}, key="old")
    api.post("/sources/", {"type": "gcash"}, key="new")
    IdempotencyRecord.objects.filter(key="old").update(id=first_id(clock.now() - timedelta(days=31)))

    assert delete_old_rows() == 1
    assert list(IdempotencyRecord.objects.values_list("key", flat=True)) == ["new"]

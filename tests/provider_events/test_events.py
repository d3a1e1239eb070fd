"""What webhooks event is applied by a worker: once, in any order, and only ever forward."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from payments import clock, ids
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.provider_events import apply
from payments.domain.provider_events.apply import TRIES_MAX
from payments.models import Attempt, Card, Event, ProviderAccount, ProviderEvent, Source
from payments.providers.base import NotSent, Outcome, Unknown
from payments.providers.references import check_reference, trial_reference
from payments.providers.simulator.books import approve, decline
from payments.providers.simulator.models import SimulatedPayment
from tests.checkout.cast import SAVE_CARD, customer, opened, save
from tests.client import Api, made
from tests.concurrency import at_once
from tests.customers.factories import new_customer
from tests.provider_events.psp import (
    APPLIED,
    WebhookPsp,
    announce,
    apply_due,
    approved,
    do,
    event_about,
    name_of,
    paid_on_its_page,
    send,
    signed,
    standing,
)
from tests.routing.doubles import account_at

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("decide", "status"), [(approve, "succeeded"), (decline, "failed")], ids=["paid", "refused"])
def test_what_proves_nothing_has_the_provider_asked(
    live: Api, account: ProviderAccount, decide: Any, status: str
) -> None:
    charge = live.charge_source(live.wallet())
    code = {} if decide is approve else {"code": "payer_cancelled"}
    decide(SimulatedPayment.objects.get(), send_message=False, **code)

    announce(account, event_about(name_of("authorize"), None))

    assert live.read(charge)["status"] == status
    assert standing() == [APPLIED]


def test_what_proves_nothing_and_is_not_true_moves_nothing(live: Api, account: ProviderAccount) -> None:
    charge = live.charge_source(live.wallet())
    announce(account, event_about(name_of("authorize"), None))
    assert live.read(charge) == charge


@pytest.mark.long
@pytest.mark.parametrize("announced", [{"amount": 9_999}, {"amount": 1_000_000}, {"currency": "USD"}], ids=str)
@pytest.mark.parametrize("outcome", [approved(captured=True), None], ids=["announced", "asked"])
def test_another_amount_than_was_asked_for_moves_nothing(
    live: Api, account: ProviderAccount, outcome: Outcome | None, announced: dict[str, Any]
) -> None:
    charge = live.charge_source(live.wallet())
    paid_on_its_page()
    each = event_about(name_of("authorize"), outcome)
    for name, value in announced.items():
        object.__setattr__(each, name, value)

    announce(account, each)

    assert live.read(charge) == charge
    [(state, why)] = standing()
    assert (state, str(next(iter(announced.values()))) in why) == ("needs_attention", True)


def test_a_name_like_ours_that_we_never_gave_is_left_to_operators(live: Api, account: ProviderAccount) -> None:
    charge = live.charge_source(live.wallet())
    announce(account, event_about(ids.new_id().hex, approved(captured=True)))
    assert live.read(charge) == charge
    assert standing() == [("needs_attention", "We asked for nothing of this name.")]


@pytest.mark.parametrize("reference", ["", "order 77", "0" * 32], ids=["none", "text", "odd"])
def test_what_others_asked_the_provider_for_is_not_ours(live: Api, account: ProviderAccount, reference: str) -> None:
    charge = live.charge_source(live.wallet())
    announce(account, event_about(reference, approved(captured=True), provider_ref="psp_of_theirs", payment="order 77"))
    assert live.read(charge) == charge
    assert standing() == [("not_ours", "Nobody asked for it here.")]


@pytest.mark.parametrize("is_given_up", [False, True], ids=["kept", "given up"])
def test_a_networks_reference_that_comes_late_is_kept_with_a_kept_card(
    live: Api, account: ProviderAccount, is_given_up: bool
) -> None:
    maria, source, other = new_customer(live), live.source(), live.source()
    for each in (source, other):
        made(live.post(f"/customers/{maria['id']}/sources", {"source": each}))
    live.charge_source(source)
    Card.objects.update(network_reference="")
    if is_given_up:
        made(live.delete(f"/customers/{maria['id']}/sources/{source}"))
    for reference in ("MCC1", "MCC2"):
        outcome = replace(approved(captured=True), network_reference=reference)
        announce(account, replace(event_about(name_of("authorize"), outcome), key=reference))
    kept = {str(card.source): card.network_reference for card in Card.objects.select_related("source")}
    assert kept == {source: "" if is_given_up else "MCC1", other: ""}


def test_what_a_check_of_a_card_asked_for_moves_nothing(account: ProviderAccount) -> None:
    announce(account, event_about(check_reference(ids.new_id()), approved(captured=False)))
    assert standing() == [("not_ours", "A check of a card asked for it, which moves no money.")]


@pytest.mark.parametrize("of_this_account", [True, False])
def test_a_check_of_a_card_learns_the_networks_reference_of_its_own_account_late(
    live: Api, psp: WebhookPsp, account: ProviderAccount, shop: NewMerchant, of_this_account: bool
) -> None:
    psp.able = replace(psp.able, zero_amount=True)
    save(opened(live, **SAVE_CARD, customer=customer(live)))
    Card.objects.update(network_reference="")
    outcome = replace(approved(captured=False), network_reference="MCC1")
    teller = account if of_this_account else account_at(psp, shop.merchant, title="Second")
    announce(teller, event_about(check_reference(Source.objects.get().id), outcome, amount=0))
    assert Card.objects.get().network_reference == ("MCC1" if of_this_account else "")
    assert standing()[0][0] == ("applied" if of_this_account else "needs_attention")


def test_what_a_trial_of_the_connection_asked_for_is_not_ours(account: ProviderAccount) -> None:
    announce(account, event_about(trial_reference(), approved(captured=True)))
    assert standing() == [("not_ours", "A trial of the connection asked for it.")]


@pytest.mark.parametrize("name", ["reference", "provider_ref"])
def test_what_was_done_by_hand_to_a_payment_of_ours_is_left_to_operators(
    live: Api, account: ProviderAccount, name: str
) -> None:
    charge = live.charge()
    payment = getattr(Attempt.objects.get(), name)
    announce(account, event_about("rfd-1", approved(), payment=payment))
    assert live.read(charge) == charge
    assert standing() == [("needs_attention", "A payment of ours was changed there, and nobody asked for it here.")]


def test_an_account_reports_nothing_about_another(
    live: Api, psp: WebhookPsp, shop: NewMerchant, other_shop: NewMerchant
) -> None:
    charge = live.charge_source(live.wallet())
    for merchant, title in ((shop.merchant, "Second"), (other_shop.merchant, "")):
        announce(account_at(psp, merchant, title=title), event_about(name_of("authorize"), approved(captured=True)))

    assert live.read(charge) == charge
    assert standing() == [("needs_attention", "What has this name was asked of another account.")] * 2


def test_a_test_payment_is_not_moved_by_a_webhook(api: Api, account: ProviderAccount) -> None:
    charge = api.charge_source(api.wallet())
    announce(account, event_about(name_of("authorize"), approved(captured=True)))
    assert api.read(charge) == charge


@pytest.mark.parametrize("why", [Unknown("timed out"), NotSent("connection refused")], ids=["lost", "unsent"])
def test_a_provider_that_does_not_report_is_asked_again_later(
    live: Api, psp: WebhookPsp, account: ProviderAccount, why: Outcome
) -> None:
    charge = live.charge_source(live.wallet())
    paid_on_its_page()
    psp.found = why
    announce(account, event_about(name_of("authorize"), None))
    assert live.read(charge) == charge
    assert standing()[0][0] == "waiting"
    event = ProviderEvent.objects.get()
    assert event.due_at == event.updated_at + timedelta(seconds=5)

    psp.found = None
    apply_due()

    assert live.read(charge)["status"] == "succeeded"
    assert standing() == [APPLIED]


def test_what_cannot_be_applied_for_a_day_is_left_to_operators(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    live.charge_source(live.wallet())
    psp.found = Unknown("timed out")
    announce(account, event_about(name_of("authorize"), None))
    ProviderEvent.objects.update(tries=TRIES_MAX - 1)
    apply_due()
    assert standing() == [
        ("needs_attention", f"Given up after {TRIES_MAX} tries: The provider does not say: timed out")
    ]


def test_what_is_being_asked_for_is_left_to_who_asks(live: Api, account: ProviderAccount) -> None:
    charge = live.charge_source(live.wallet())
    Attempt.objects.update(state="open", due_at=clock.now() + timedelta(minutes=1))
    announce(account, event_about(name_of("authorize"), None))
    assert standing() == [("waiting", "It is being asked for at this moment.")]
    assert live.read(charge) == charge


def test_a_name_that_the_provider_reported_leads_to_an_outcome_that_nobody_knew(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    psp.answers.append(Unknown("timed out"))
    charge = live.charge()
    psp.found = approved("pr-77", captured=True)
    announce(account, event_about(name_of("authorize"), None, provider_ref="pr-77"))

    assert [asked.provider_ref for asked in psp.looked_up] == ["pr-77"]
    assert (live.read(charge)["status"], Attempt.objects.get().provider_ref) == ("succeeded", "pr-77")


def test_whatever_breaks_on_one_report_keeps_nobody_from_the_others(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    broken, charge = live.charge_source(live.wallet()), live.charge_source(live.wallet())
    names = [attempt.reference for attempt in Attempt.objects.order_by("id")]
    send(account, signed(event_about(names[0], approved(captured=True))))
    ProviderEvent.objects.update(outcome_json="{")
    announce(account, event_about(names[1], approved(captured=True)))

    assert (live.read(broken)["status"], live.read(charge)["status"]) == ("pending", "succeeded")
    assert standing() == [("waiting", "JSONDecodeError"), APPLIED]


@pytest.mark.django_db(transaction=True)
def test_workers_that_come_at_once_apply_each_report_once(live: Api, psp: WebhookPsp, account: ProviderAccount) -> None:
    charges = [live.held() for _ in range(3)]
    for charge in charges:
        do(live, charge, "capture")
    for each in psp.announced:
        send(account, signed(each))

    taken = at_once(4, lambda _: apply.apply_due())

    assert sum(taken) == len(charges)
    assert Event.objects.filter(type="charge.captured").count() == len(charges)
    assert standing() == [APPLIED] * 3


def claim() -> list[ProviderEvent]:
    return apply.DUE.claim(ProviderEvent.objects.all(), lambda event: {"tries": event.tries + 1})


def test_what_a_dead_worker_had_in_progress_is_taken_again(live: Api, account: ProviderAccount) -> None:
    charge = live.charge_source(live.wallet())
    send(account, signed(event_about(name_of("authorize"), approved(captured=True))))
    assert claim()
    assert apply.apply_due() == 0

    apply_due()

    assert live.read(charge)["status"] == "succeeded"


def test_what_took_longer_than_its_lease_changes_nothing_of_what_another_put_down(
    live: Api, psp: WebhookPsp, account: ProviderAccount
) -> None:
    live.charge_source(live.wallet())
    send(account, signed(event_about(name_of("authorize"), None)))
    [slow] = claim()
    apply_due()
    psp.found = Unknown("timed out")
    apply._apply_alone(slow)
    assert standing() == [APPLIED]

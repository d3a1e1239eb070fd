"""Races for the check of a card that a session keeps, with real threads on real connections."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from customers.models import Customer
from payments import clock
from payments.domain.checkout import card_checks, payments
from payments.domain.checkout.payments import Choice
from payments.models import Checkout, Source
from payments.providers.simulator.connector import Simulator
from payments.providers.simulator.models import SimulatedPayment
from payments.tasks import run_sweep
from tests.charging.doubles import Double, provider
from tests.checkout.cast import ADDRESS, SAVE_CARD, card, customer, event_types, opened, row_of, save
from tests.checkout.test_races import tried
from tests.client import APPROVED, CHALLENGED, Api
from tests.concurrency import at_once
from tests.pages.waiting_charges import path_of

pytestmark = pytest.mark.django_db(transaction=True)
TABS = 50
DONE = ["checkout_session.created", "checkout_session.completed"]


def kept() -> int:
    return Source.objects.filter(vaulted=True).count()


@pytest.mark.long
@pytest.mark.parametrize("number", [APPROVED, CHALLENGED])
def test_of_many_tabs_that_send_a_card_at_once_one_is_checked(api: Api, number: str) -> None:
    session = opened(api, **SAVE_CARD)
    choice = Choice(type="card", card=card(number), attempt=0, payer={"email": "maria@example.com"})

    done = at_once(TABS, lambda _: tried(lambda: payments.save_card(row_of(session), choice, ADDRESS)))

    assert sum(done) == SimulatedPayment.objects.count() == Source.objects.count() == Customer.objects.count() == 1
    assert (row_of(session).state, row_of(session).attempts) == (("paid" if number == APPROVED else "paying"), 1)


def test_of_many_returns_at_once_one_asks_the_provider_and_the_card_is_kept_once(api: Api) -> None:
    session = opened(api, **SAVE_CARD, customer=customer(api))
    Client().post(path_of(save(session, CHALLENGED).check_url), {"decision": "pay"})
    rows, asked = [row_of(session) for _ in range(TABS)], []

    def counted(do: Callable[[], Any], payment: Any) -> Any:
        asked.append(payment)
        return do()

    with provider(Double(continue_payment=counted)):
        at_once(TABS, lambda number: payments.come_back(rows[number], {}, ADDRESS))

    assert (len(asked), kept(), row_of(session).state) == (1, 1, "paid")
    assert event_types(api, session) == DONE


@pytest.mark.long
@pytest.mark.parametrize("decision", ["pay", "fail"])
@pytest.mark.parametrize("turn", range(3))
def test_a_payer_who_comes_back_gives_up_and_is_reported_and_looked_up_at_once_has_one_end(
    api: Api, decision: str, turn: int
) -> None:
    session = opened(api, **SAVE_CARD, customer=customer(api))
    Client().post(path_of(save(session, CHALLENGED).check_url), {"decision": decision})
    Checkout.objects.update(check_due_at=clock.now())
    rows = [row_of(session) for _ in range(2)]
    acts: list[Callable[[], Any]] = [
        lambda: payments.come_back(rows[0], {}, ADDRESS),
        lambda: payments.give_up(rows[1]),
        lambda: run_sweep("apply_simulator_messages"),
        card_checks.resolve_due,
    ]

    at_once(len(acts), lambda number: acts[number]())

    row = row_of(session)
    if decision == "pay":
        assert (row.state, kept(), event_types(api, session)) == ("paid", 1, DONE)
    else:
        assert (row.state, row.check_code, kept()) == ("unpaid", "authentication_failed", 0)


@pytest.mark.long
def test_who_decides_while_another_tab_gives_up_has_the_card_kept_or_the_form_again(api: Api) -> None:
    for _ in range(6):
        session = opened(api, **SAVE_CARD, customer=customer(api))
        url, before = save(session, CHALLENGED).check_url, kept()

        def decide(session: dict[str, Any] = session, url: str = url) -> None:
            Client().post(path_of(url), {"decision": "pay"})
            payments.come_back(row_of(session), {}, ADDRESS)

        acts: list[Callable[[], Any]] = [decide, lambda session=session: payments.give_up(row_of(session))]
        at_once(2, lambda number, acts=acts: acts[number]())
        # Where the other tab was faster the card may be sent again.
        assert (row_of(session).state, kept() - before) in [("paid", 1), ("unpaid", 0)]


def test_an_approval_that_comes_after_its_check_was_given_up_keeps_no_card(api: Api) -> None:
    session = opened(api, **SAVE_CARD, customer=customer(api))

    def meanwhile(do: Callable[[], Any], asked: Any) -> Any:
        Checkout.objects.update(check_due_at=clock.now())
        assert card_checks.resolve_due() == 1
        return do()

    with provider(Double(create_payment=meanwhile, resolve=lambda _, asked: Simulator().resolve(asked))):
        save(session)
    assert (row_of(session).state, kept()) == ("unpaid", 0)

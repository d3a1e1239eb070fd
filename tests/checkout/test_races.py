"""Races for one session, with real threads on real connections: it is paid once or ends, never both."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError

from payments.domain.charging import recovery
from payments.domain.checkout import payments, sessions
from payments.domain.checkout.payments import Choice
from payments.domain.shared.errors import PaymentError
from payments.ids import parse_id
from payments.models import Attempt, Charge, Checkout
from payments.providers.simulator.models import SimulatedPayment
from tests.charging.elapsed_time import arrive_late
from tests.checkout.cast import ADDRESS, SETUP, card, charges_of, event_types, opened, pay, row_of, shown
from tests.client import NEVER_ARRIVES, Api, made
from tests.concurrency import at_once

pytestmark = pytest.mark.django_db(transaction=True)
PAYERS = 12


def tried(act: Callable[[], Any]) -> bool:
    """Return whether `act` was done, and not refused."""
    try:
        act()
    except PaymentError:
        return False
    return True


def test_many_tabs_that_pay_at_once_pay_once(api: Api) -> None:
    session = opened(api)
    row = row_of(session)
    choice = Choice(type="card", card=card(), attempt=row.attempts)

    done = at_once(PAYERS, lambda _: tried(lambda: payments.pay(row, choice, ADDRESS)))

    assert sum(done) == 1
    assert [charge.status for charge in charges_of(session)] == ["succeeded"]
    assert SimulatedPayment.objects.count() == 1
    assert event_types(api, session) == ["checkout_session.created", "checkout_session.completed"]


def test_a_session_that_is_paid_and_expired_at_once_has_one_end(api: Api) -> None:
    ends = []
    for _ in range(6):
        session = opened(api)
        path = f"/checkout_sessions/{session['id']}/expire"
        acts: list[Callable[[], Any]] = [
            lambda session=session: tried(lambda: pay(session)),
            lambda path=path: Api(api.key).post(path).status_code == 200,
        ]
        at_once(2, lambda number, acts=acts: acts[number]())
        charged = [charge.status for charge in charges_of(session)]
        ends.append((shown(api, session)["payment_status"], charged))
    assert all(end in [("paid", ["succeeded"]), ("expired", [])] for end in ends)


def test_a_session_whose_time_ends_while_it_is_paid_has_one_end(api: Api) -> None:
    for _ in range(6):
        session = opened(api)
        row = row_of(session)

        def end(session: dict[str, Any] = session, row: Checkout = row) -> None:
            Checkout.objects.filter(id=row.id).update(expires_at=row.created_at)
            sessions.expire_due()

        acts: list[Callable[[], Any]] = [lambda session=session: tried(lambda: pay(session)), end]
        at_once(2, lambda number, acts=acts: acts[number]())
        sessions.expire_due()
        charged = [charge.status for charge in charges_of(session)]
        assert (shown(api, session)["payment_status"], charged) in [("paid", ["succeeded"]), ("expired", [])]


def test_a_capture_and_a_void_at_once_leave_the_session_as_its_charge_is(api: Api) -> None:
    session = opened(api, **SETUP)
    charge_id = f"ch_{pay(session).id.hex}"
    paths = [f"/checkout_sessions/{session['id']}/capture", f"/charges/{charge_id}/void"]
    at_once(2, lambda number: Api(api.key).post(paths[number]))
    charge, status = made(api.get(f"/charges/{charge_id}")), shown(api, session)["payment_status"]
    # A void that comes after the capture gives the captured money back: the session was paid.
    assert status == ("paid" if charge["captured"] else "voided")


def test_while_an_answer_is_lost_nothing_else_may_begin_and_late_money_completes_it(api: Api) -> None:
    session = opened(api)
    assert pay(session, NEVER_ARRIVES).status == "pending"
    assert not payments.give_up(row_of(session))
    assert not tried(lambda: pay(session))
    recovery.apply_event(arrive_late(Attempt.objects.get()))
    assert shown(api, session)["payment_status"] == "paid"


def test_money_that_comes_after_the_payer_paid_otherwise_is_given_back(api: Api) -> None:
    session = opened(api)
    pay(session, NEVER_ARRIVES)
    first = Attempt.objects.get()
    # Nobody finds it at the provider: it is given up, and the session is free again.
    Attempt.objects.update(due_at=first.created_at)
    recovery.resolve_due()
    pay(session)
    recovery.apply_event(arrive_late(first))
    assert [(charge.status, charge.reversed_late) for charge in charges_of(session)] == [
        ("failed", True),
        ("succeeded", False),
    ]
    assert shown(api, session)["payment_status"] == "paid"


def test_the_database_lets_no_second_payment_of_a_session_in(api: Api) -> None:
    session = opened(api)
    pay(session)
    other = Charge.objects.filter(id=parse_id("ch", api.charge()["id"]))
    with pytest.raises(IntegrityError, match="one_payment_per_checkout"):
        other.update(checkout_id=row_of(session).id)

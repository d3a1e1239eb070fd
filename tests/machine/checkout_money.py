"""What is done to the money of checkouts that are paid: by the shop, the payer's bank and the bank of payouts."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from payments.ids import public_id
from payments.models import Checkout, Dispute, Source
from tests.charging.doubles import Double, provider
from tests.faults.verbs import can_be_disputed, take_next_step
from tests.machine.disputes import RESPONDS
from tests.machine.payout_model import BANK
from tests.machine.payouts import ORDINARY_NUMBER

if TYPE_CHECKING:
    from tests.machine.checkouts import CheckoutHistory, Sale

Act = Callable[["CheckoutHistory", "Sale"], None]


def capture(history: "CheckoutHistory", sale: "Sale") -> None:
    body = {"amount": history.random.randint(1, sale.row.amount or 1)} if history.seldom() else None
    if sale.row.kind != Checkout.Kind.SESSION or history.seldom():
        history.operate(sale, "capture", body)
    else:
        history.ask(f"/checkout_sessions/{sale.name}/capture", body)


def void(history: "CheckoutHistory", sale: "Sale") -> None:
    history.operate(sale, "void")


def refund(history: "CheckoutHistory", sale: "Sale") -> None:
    history.operate(sale, "refund", {"amount": history.random.randint(1, 10_000)} if history.seldom() else None)


def end_hold(history: "CheckoutHistory", sale: "Sale") -> None:
    charge = history.charge(sale)
    if charge and charge.authorized:
        history.time.end_hold(str(charge))


def settle(history: "CheckoutHistory", sale: "Sale") -> None:
    """End the day, by whose end what was given up is looked up again."""
    history.time.look_up()
    history.time.settle()


def delete_customer(history: "CheckoutHistory", sale: "Sale") -> None:
    """Delete the customer whom a checkout is for; what is kept for them goes too."""
    if customer_id := sale.row.customer_id:
        history.note(history.api.delete(f"/customers/{public_id('cus', customer_id)}").status_code)


def charge_kept_card(history: "CheckoutHistory", sale: "Sale") -> None:
    """Charge a card again that is kept for the customer, or was."""
    sources = Source.objects.filter(customer_id=sale.row.customer_id, customer_id__isnull=False, used=True)
    if source := sources.order_by("id").last():
        body = {"amount": history.random.randint(100, 50_000), "currency": "PHP", "source": str(source)}
        history.ask("/charges/", {**body, "description": "Again", "capture": not history.seldom()})


def dispute(history: "CheckoutHistory", sale: "Sale") -> None:
    """Let the payer's bank take its next step, or begin a dispute."""
    charge = history.charge(sale)
    if charge and can_be_disputed(charge):
        take_next_step(charge, history.random)
        history.time.receive_reports()


def respond(history: "CheckoutHistory", sale: "Sale") -> None:
    """Accept a dispute or defend it; the provider may not answer, or refuse."""
    for row in Dispute.objects.filter(charge=history.charge(sale)):
        history.api.post(f"/disputes/{row}/evidence", {"type": "receipt", "text": "winning_evidence"})
        history.note(history.api.post(f"/disputes/{row}/{history.random.choice(['accept', 'submit'])}").status_code)
    with provider(Double(respond=history.random.choice([*RESPONDS.values()]))):
        history.time.send_responses()


def pay_out(history: "CheckoutHistory", sale: "Sale") -> None:
    """Pay out what has settled, to a bank that pays, refuses or returns it, and go some of the steps that follow."""
    settle(history, sale)
    time = history.time
    time.end_settlement()
    time.set_account(f"00012345{history.random.choice([ORDINARY_NUMBER, *BANK])}")
    time.run_schedule(time.set_schedule(history.random.choice([0, 10])))
    after = (time.send_payouts, time.end_bank_day, time.receive_reports, partial(time.release_reserves, livemode=False))
    for step in after[: history.random.randint(0, len(after))]:
        step()


MONEY: tuple[Act, ...] = (
    *(capture, void, refund, refund, end_hold, settle, dispute, respond, pay_out, charge_kept_card, delete_customer),
)

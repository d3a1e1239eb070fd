"""The postings for each row of the contract's state table."""

from collections.abc import Callable
from typing import Any

import pytest

from payments.domain.charging import expiry, recovery
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Attempt, Charge, Posting
from payments.providers.base import Declined, WebhookEvent
from tests.charging.elapsed_time import arrive_late, let_time_pass, recover, settle_refunds
from tests.client import ANSWER_LOST, DECLINED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT, Api, made
from tests.contract.calls import debit
from tests.ledger.books import RATE, accounts, charge_fees, settle, standing, uuid_of

pytestmark = pytest.mark.usefixtures("fees")

Charged = dict[str, Any]
Make = Callable[[Api], Charged]
Do = Callable[[Api, Charged], object]

AMOUNT = 10_000
FEE = 365  # 3.5 % and 15
PART, PART_FEE = 4_000, 155


def verb(name: str, **body: Any) -> Do:
    return lambda api, charge: made(api.post(f"/charges/{charge['id']}/{name}", body))


def after(make: Make, *steps: Do) -> Make:
    """Return `make` followed by `steps`."""

    def make_then_do(api: Api) -> Charged:
        charge = make(api)
        for step in steps:
            step(api, charge)
        return charge

    return make_then_do


def time(pass_it: Callable[[], object]) -> Do:
    return lambda api, charge: pass_it()


def verify(api: Api, charge: Charged) -> None:
    confirmation = {"confirmation_id": charge["action"]["confirmation_id"], "otp": "123456"}
    made(api.post(f"/charges/{charge['id']}/verify", confirmation))


def fail_refund() -> None:
    attempt = Attempt.objects.get(kind="refund")
    recovery.apply_event(WebhookEvent(attempt.reference, Declined("processing_error")))


def expire() -> None:
    let_time_pass(Charge, "hold_expires_at")
    expiry.void_expired_holds()


def report_late() -> None:
    recovery.apply_event(arrive_late(Attempt.objects.get(kind="authorize")))


def charged(api: Api) -> Charged:
    return api.charge()


def slow_to_refund(api: Api) -> Charged:
    return api.charge(REFUNDS_WAIT)


def quick_to_refund(api: Api) -> Charged:
    """Make a charge whose provider reports a refund as paid at once, and as failed later."""
    return api.charge(REFUNDS_FAIL)


def held(api: Api) -> Charged:
    return api.held()


def failed(**members: Any) -> Make:
    return after(lambda api: api.charge(NEVER_ARRIVES, **members), time(recover))


CAPTURED = {"provider_receivable": AMOUNT, "merchant_pending": FEE - AMOUNT, "fees": -FEE}
HELD = {"provider_hold": AMOUNT, "merchant_hold": -AMOUNT}
RELEASED = {"provider_hold": -AMOUNT, "merchant_hold": AMOUNT}
PART_CAPTURED = {"provider_receivable": PART, "merchant_pending": PART_FEE - PART, "fees": -PART_FEE}
TAKEN_BACK = {"provider_receivable": -AMOUNT, "merchant_pending": AMOUNT - FEE, "fees": FEE}
REFUNDED = {"merchant_pending": PART, "provider_receivable": -PART}
NOTHING: dict[str, int] = {}

refund_part = verb("refund", amount=PART)
ends = time(settle_refunds)
fails = time(fail_refund)
settles = time(settle)

# What is there, what happens to it, what that moves.
MOVEMENTS: dict[str, tuple[Make, Do, dict[str, int]]] = {
    "captured by its payer": (debit, verify, {"provider_receivable": AMOUNT, "merchant_pending": -AMOUNT}),
    "found captured": (lambda api: api.charge(ANSWER_LOST), time(recover), CAPTURED),
    "found absent": (lambda api: api.charge(NEVER_ARRIVES), time(recover), NOTHING),
    "whole hold captured": (held, verb("capture"), CAPTURED | RELEASED),
    "part of a hold captured": (held, verb("capture", amount=PART), PART_CAPTURED | RELEASED),
    "hold voided": (held, verb("void"), RELEASED),
    "hold expired": (held, time(expire), RELEASED),
    "capture voided": (charged, verb("void"), TAKEN_BACK),
    "capture from a hold voided": (after(held, verb("capture")), verb("void"), TAKEN_BACK),
    "part refunded": (charged, refund_part, REFUNDED),
    "all refunded": (charged, verb("refund"), {"merchant_pending": AMOUNT, "provider_receivable": -AMOUNT}),
    "refund asked": (slow_to_refund, refund_part, {"merchant_pending": PART, "refunds_in_transit": -PART}),
    "refund asked, then paid": (
        after(slow_to_refund, refund_part),
        ends,
        {"refunds_in_transit": PART, "provider_receivable": -PART},
    ),
    "refund asked, then failed": (
        after(slow_to_refund, refund_part),
        fails,
        {"refunds_in_transit": PART, "merchant_pending": -PART},
    ),
    "refund paid, then failed": (
        after(quick_to_refund, refund_part),
        ends,
        {"provider_receivable": PART, "merchant_pending": -PART},
    ),
    "settled": (
        charged,
        settles,
        {
            "provider_receivable": -AMOUNT,
            "bank": AMOUNT,
            "merchant_pending": AMOUNT - FEE,
            "merchant_payable": FEE - AMOUNT,
        },
    ),
    "settled with a refund on its way": (
        after(slow_to_refund, refund_part),
        settles,
        {
            "provider_receivable": -AMOUNT,
            "bank": AMOUNT,
            "merchant_pending": AMOUNT - FEE - PART,
            "merchant_payable": FEE + PART - AMOUNT,
        },
    ),
    "settled after all was refunded": (
        after(charged, verb("refund")),
        settles,
        {"merchant_pending": -FEE, "merchant_payable": FEE},
    ),
    "settled, then refunded": (
        after(charged, settles),
        refund_part,
        {"merchant_payable": PART, "provider_receivable": -PART},
    ),
    "settled, refunded, and settled again": (
        after(charged, settles, refund_part),
        settles,
        {"provider_receivable": PART, "bank": -PART},
    ),
    "refund asked before the settlement, paid after it": (
        after(slow_to_refund, refund_part, settles),
        ends,
        {"refunds_in_transit": PART, "provider_receivable": -PART},
    ),
    "refund asked before the settlement, failed after it": (
        after(slow_to_refund, refund_part, settles),
        fails,
        {"refunds_in_transit": PART, "merchant_payable": -PART},
    ),
    "refund paid before the settlement, failed after it": (
        after(quick_to_refund, refund_part, settles),
        ends,
        {"provider_receivable": PART, "merchant_payable": -PART},
    ),
    "refund asked and failed after the settlement": (
        after(slow_to_refund, settles, refund_part),
        fails,
        {"refunds_in_transit": PART, "merchant_payable": -PART},
    ),
    "refund paid and failed after the settlement": (
        after(quick_to_refund, settles, refund_part),
        ends,
        {"provider_receivable": PART, "merchant_payable": -PART},
    ),
    "money after failing": (failed(), time(report_late), {"provider_receivable": AMOUNT, "reversals": -AMOUNT}),
    "money after failing, reversed": (
        after(failed(), time(report_late)),
        time(recover),
        {"provider_receivable": -AMOUNT, "reversals": AMOUNT},
    ),
    "hold after failing": (failed(capture=False), time(report_late), NOTHING),
    "hold after failing, released": (after(failed(capture=False), time(report_late)), time(recover), NOTHING),
}


@pytest.mark.parametrize("name", MOVEMENTS)
def test_a_movement_is_posted_on_its_accounts(api: Api, name: str) -> None:
    make, do, moved = MOVEMENTS[name]
    charge = make(api)
    before = accounts()

    do(api, charge)

    now = accounts()
    assert {account: now[account] - before[account] for account in now if now[account] != before[account]} == moved
    assert set(Posting.objects.values_list("charge_id", flat=True)) <= {uuid_of(charge)}


@pytest.mark.parametrize(
    ("make", "stands"),
    [
        (charged, CAPTURED),
        (held, HELD),
        (debit, NOTHING),
        (lambda api: api.charge(DECLINED), NOTHING),
        (lambda api: api.charge(ANSWER_LOST), NOTHING),
    ],
    ids=["captured at once", "held", "awaiting its payer", "declined", "unknown"],
)
def test_a_new_charge_posts_what_its_provider_says(api: Api, make: Make, stands: dict[str, int]) -> None:
    make(api)
    assert standing() == stands


def test_a_journal_names_the_attempt_that_moved_the_money(api: Api) -> None:
    charge = after(charged, refund_part)(api)
    attempts = {attempt.kind: attempt.id for attempt in Attempt.objects.filter(charge_id=uuid_of(charge))}
    moved_by = dict(Posting.objects.filter(account="provider_receivable").values_list("kind", "attempt_id"))
    assert moved_by == {"capture": attempts["authorize"], "refund_settled": attempts["refund"]}


CURRENCIES = ("PHP", "JPY", "KWD", "USD")


def test_currencies_are_kept_apart_and_counted_in_their_smallest_unit(api: Api, shop: NewMerchant) -> None:
    charge_fees(shop.merchant, RATE, *CURRENCIES)
    for currency in CURRENCIES:
        api.charge(currency=currency)
    assert {currency: standing(currency=currency) for currency in CURRENCIES} == dict.fromkeys(CURRENCIES, CAPTURED)

"""Random histories of a charge: the ledger balances, and agrees with the charge and its refunds."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments.domain.charging import expiry
from payments.domain.merchants import terms
from payments.domain.merchants.merchants import NewMerchant
from payments.ledger.fees import Rate
from payments.models import Charge
from tests.charging.doubles import LosesAnswers, NeverHears, Unreachable, provider
from tests.charging.elapsed_time import let_time_pass, recover, settle_refunds
from tests.client import ANSWER_LOST, APPROVED, NEVER_ARRIVES, REFUNDS_FAIL, REFUNDS_WAIT, Api
from tests.ledger.books import row_of, settle
from tests.ledger.ledger_check import check_books

Do = Callable[[Api, str], object]

CARDS = [APPROVED, REFUNDS_FAIL, REFUNDS_WAIT, ANSWER_LOST, NEVER_ARRIVES]
AMOUNT_MOST = 1_000


def verb(name: str, **body: Any) -> Do:
    return lambda api, path: api.post(f"{path}/{name}", body)


def badly(double: Any, do: Do) -> Do:
    """Return `do` with a provider that fails as `double` does."""

    def ask(api: Api, path: str) -> None:
        with provider(double):
            do(api, path)

    return ask


def expire() -> None:
    let_time_pass(Charge, "hold_expires_at")
    expiry.void_expired_holds()


VERBS: dict[str, Do] = {
    "capture all": verb("capture"),
    "capture 400": verb("capture", amount=400),
    "void": verb("void"),
    "refund 100": verb("refund", amount=100),
    "refund all": verb("refund"),
    "refund, answer lost": badly(LosesAnswers(), verb("refund", amount=100)),
    "refund, lost on the way": badly(NeverHears(), verb("refund", amount=100)),
    "capture, answer lost": badly(LosesAnswers(), verb("capture")),
    "void, unreachable": badly(Unreachable(), verb("void")),
}
EVENTS: dict[str, Do] = {
    name: lambda api, path, happen=happen: happen()
    for name, happen in {
        "refunds end": settle_refunds,
        "recovery": recover,
        "settlement": settle,
        "holds expire": expire,
    }.items()
}
STEPS = VERBS | EVENTS


@pytest.mark.django_db
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    card=st.sampled_from(CARDS),
    hold=st.booleans(),
    amount=st.integers(1, AMOUNT_MOST),
    rate=st.builds(Rate, st.integers(0, 10_000), st.integers(0, AMOUNT_MOST)),
    steps=st.lists(st.sampled_from(list(STEPS)), max_size=8),
)
def test_after_any_history_the_ledger_agrees_with_the_charge(
    api: Api, shop: NewMerchant, card: str, hold: bool, amount: int, rate: Rate, steps: list[str]
) -> None:
    terms.set_fee(shop.merchant, "card", "PHP", rate)
    made = api.charge(card, amount, capture=not hold)
    for step in steps:
        STEPS[step](api, f"/charges/{made['id']}")

        check_books(row_of(made), rate)

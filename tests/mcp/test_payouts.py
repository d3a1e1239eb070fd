"""A payout that an assistant asks for: made once a person approves it, of no more than they saw."""

from collections.abc import Callable

import pytest

from payments.domain.approvals import decide
from payments.domain.approvals.execution import execute
from payments.domain.approvals.kinds.calls import key_of
from payments.domain.approvals.verbs import plan_of
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.payouts.make import make_now
from payments.domain.shared.errors import PaymentError
from payments.failpoints import Failpoint
from payments.models import AssistantCall, Payout, PayoutSchedule
from tests.client import Api
from tests.concurrency import crashing
from tests.mcp.assistant import Assistant, Failed
from tests.merchant_site.conftest import member
from tests.operators.factories import person
from tests.payouts.stories import give_account, give_schedule, settled

WISH = {"currency": "PHP", "idempotency_key": "w", "why": "Friday."}


def test_a_payout_is_made_once_a_person_approves_it(shop: NewMerchant, api: Api) -> None:
    give_account(shop.merchant)
    give_schedule(shop.merchant)
    settled(api)
    assistant, petra = Assistant(shop.merchant, ["payout"]), person("petra", "finance")
    assert assistant.call("payout", **WISH, dry_run=True)["needs_person"]
    asked = assistant.call("payout", **WISH)
    assert (asked["status"], Payout.objects.count()) == ("proposed", 0)
    request = AssistantCall.objects.get()
    with pytest.raises(Refused, match="may pay out"):
        decide.approve(request, member(shop.merchant), "I want it.")
    decide.approve(request, petra, "Right.")
    made = assistant.call("payout", **WISH)
    assert (made["status"], made["amount"]) == ("done", Payout.objects.get().amount)
    # So that in live mode another one approves the payout itself.
    assert Payout.objects.get().requested_by == petra
    assert assistant.call("retrieve_payout", id=made["made"])["amount"] == made["amount"]


def test_nobody_has_asked_for_a_payout_that_a_rule_lets_through(shop: NewMerchant, api: Api) -> None:
    give_account(shop.merchant)
    give_schedule(shop.merchant)
    settled(api)
    assistant = Assistant(shop.merchant, ["payout PHP 900.00 900.00"])
    asked = assistant.call("payout", **WISH)
    assert (asked["status"], Payout.objects.get().requested_by) == ("done", None)


def approved_payout(shop: NewMerchant, api: Api) -> AssistantCall:
    """Return an approved call for a payout, before it is executed."""
    give_account(shop.merchant)
    give_schedule(shop.merchant)
    settled(api)
    Assistant(shop.merchant, ["payout"]).call("payout", **WISH)
    request = AssistantCall.objects.get()
    with crashing(Failpoint.EXECUTING):
        decide.approve(request, person("petra", "finance"), "Right.")
    return request


def executed(request: AssistantCall) -> tuple[str, str]:
    """Return the state and the code of a call after the worker has executed it."""
    execute(request)
    request.refresh_from_db()
    return request.state, request.code


def test_no_more_is_paid_out_than_was_approved(shop: NewMerchant, api: Api) -> None:
    request = approved_payout(shop, api)
    settled(api, 1)
    with pytest.raises(PaymentError, match="has changed since"):
        plan_of(key_of(request), request)
    assert executed(request) == ("refused", "amount_too_large")
    assert not Payout.objects.exists()


def test_a_balance_that_was_paid_out_meanwhile_is_not_paid_out_again(shop: NewMerchant, api: Api) -> None:
    request = approved_payout(shop, api)
    make_now(PayoutSchedule.objects.get().id)
    assert executed(request) == ("refused", "too_small")
    assert Payout.objects.count() == 1


def nothing(shop: NewMerchant, api: Api) -> None:
    give_account(shop.merchant)
    give_schedule(shop.merchant)


def no_account(shop: NewMerchant, api: Api) -> None:
    give_schedule(shop.merchant)
    settled(api)


@pytest.mark.parametrize(
    ("given", "code"), [(lambda *_: None, "resource_missing"), (nothing, "too_small"), (no_account, "not_allowed")]
)
def test_no_payout_is_asked_for_that_cannot_be_made(
    shop: NewMerchant, api: Api, given: Callable[[NewMerchant, Api], None], code: str
) -> None:
    given(shop, api)
    with pytest.raises(Failed, match=code):
        Assistant(shop.merchant, ["payout"]).call("payout", **WISH)
    assert not AssistantCall.objects.exists()

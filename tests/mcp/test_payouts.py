"""A payout that an assistant asks for: made once a person approves it, of no more than they saw."""

import pytest

from payments.domain.approvals import decide
from payments.domain.approvals.execution import execute_action
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.models import AssistantCall, Payout
from tests.client import Api
from tests.mcp.assistant import Assistant
from tests.merchant_site.conftest import member
from tests.operators.factories import person
from tests.payouts.stories import give_account, give_schedule, settled


def test_a_payout_is_made_once_a_person_approves_it(shop: NewMerchant, api: Api) -> None:
    give_account(shop.merchant)
    give_schedule(shop.merchant)
    settled(api)
    assistant, petra = Assistant(shop.merchant, ["payout"]), person("petra", "finance")
    wish = {"currency": "PHP", "idempotency_key": "w", "why": "Friday."}
    assert assistant.call("payout", **wish, dry_run=True)["needs_person"]
    asked = assistant.call("payout", **wish)
    assert (asked["status"], Payout.objects.count()) == ("proposed", 0)
    request = AssistantCall.objects.get()
    with pytest.raises(Refused, match="may pay out"):
        decide.approve(request, member(shop.merchant), "I want it.")
    decide.approve(request, petra, "Right.")
    execute_action(request)
    made = assistant.call("payout", **wish)
    assert (made["status"], made["amount"]) == ("done", Payout.objects.get().amount)
    # So that in live mode another one approves the payout itself.
    assert Payout.objects.get().requested_by == petra
    assert assistant.call("retrieve_payout", id=made["made"])["amount"] == made["amount"]


def test_nobody_has_asked_for_a_payout_that_a_rule_lets_through(shop: NewMerchant, api: Api) -> None:
    give_account(shop.merchant)
    give_schedule(shop.merchant)
    settled(api)
    assistant = Assistant(shop.merchant, ["payout PHP 900.00 900.00"])
    asked = assistant.call("payout", currency="PHP", idempotency_key="w", why="Friday.")
    assert (asked["status"], Payout.objects.get().requested_by) == ("done", None)

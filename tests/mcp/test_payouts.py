"""A payout that an assistant asks for: made once a person approves it, of no more than they saw."""

from django.contrib.auth.models import User

from payments.domain.approvals import decide
from payments.domain.approvals.execution import execute_action
from payments.domain.merchants.merchants import NewMerchant
from payments.models import AssistantCall, Payout
from tests.client import Api
from tests.mcp.assistant import Assistant
from tests.payouts.stories import give_account, give_schedule, settled


def test_a_payout_is_made_once_a_person_approves_it(shop: NewMerchant, api: Api) -> None:
    give_account(shop.merchant)
    give_schedule(shop.merchant)
    settled(api)
    assistant, person = Assistant(shop.merchant, ["payout"]), User.objects.create_user("petra", is_staff=True)
    wish = {"currency": "PHP", "idempotency_key": "w", "why": "Friday."}
    assert assistant.call("payout", **wish, dry_run=True)["needs_person"]
    asked = assistant.call("payout", **wish)
    assert (asked["status"], Payout.objects.count()) == ("proposed", 0)
    request = AssistantCall.objects.get()
    decide.approve(request, person, "Right.")
    execute_action(request)
    made = assistant.call("payout", **wish)
    assert (made["status"], made["amount"]) == ("done", Payout.objects.get().amount)
    assert assistant.call("retrieve_payout", id=made["made"])["amount"] == made["amount"]

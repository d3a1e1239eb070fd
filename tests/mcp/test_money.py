"""Tools that move money: they ask, and the key's rule or a person decides."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User

from payments import clock
from payments.domain.approvals import decide, kinds
from payments.domain.approvals.execution import execute, execute_left
from payments.domain.approvals.kinds.calls import key_of
from payments.domain.approvals.request import ask, submit
from payments.domain.approvals.verbs import plan_of
from payments.domain.merchants.api_keys import revoke_key, roll_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.operators.four_eyes import Refused
from payments.domain.shared.errors import PaymentError
from payments.domain.shared.verbs import Call
from payments.failpoints import Failpoint
from payments.ids import new_id, parse_id
from payments.models import ApiKey, ApprovalLimit, ApprovalRequest, AssistantCall, Charge, Merchant, MerchantAccess
from tests.charging.doubles import Unreachable, provider
from tests.client import Api, made
from tests.concurrency import crashing
from tests.mcp.assistant import LINK, Assistant, Failed
from tests.merchant_site.conftest import member


@pytest.fixture
def person(db: None) -> User:
    return User.objects.create_user("petra", is_staff=True)


def approve(person: User) -> ApprovalRequest:
    """Have `person` approve the one call that waits, which executes it."""
    request = AssistantCall.objects.proposed().get()
    decide.approve(request, person, "Looked at the order.")
    return request


def wish(key: str = "wish-1", **more: Any) -> dict[str, Any]:
    return {"idempotency_key": key, "why": "The payer asked.", **more}


def payer(api: Api) -> str:
    """Return a new customer's ID."""
    described = {"email": "ana@example.com", "description": "A regular"}
    return str(made(api.post("/customers/", described))["id"])


def kept(api: Api) -> str:
    """Return a source that is kept for a customer."""
    customer = payer(api)
    source = api.source()
    made(api.post(f"/customers/{customer}/sources", {"source": source}))
    return source


def test_a_refund_waits_for_a_person(shop: NewMerchant, api: Api, person: User) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund"])
    asked = assistant.call("refund", id=charge["id"], amount=4_000, **wish())
    assert (asked["status"], asked["amount"], asked["needs_person"]) == ("proposed", 4_000, True)
    assert api.read(charge)["amount_refunded"] == 0
    approve(person)
    assert api.read(charge)["amount_refunded"] == 4_000
    again = assistant.call("refund", id=charge["id"], amount=4_000, **wish())
    assert (again["status"], again["made"]) == ("done", charge["id"])


def test_a_rejected_call_moves_nothing(shop: NewMerchant, api: Api, person: User) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund"])
    assistant.call("refund", id=charge["id"], **wish())
    decide.reject(AssistantCall.objects.get(), person, "The goods came.")
    assert assistant.call("refund", id=charge["id"], **wish())["status"] == "rejected"
    assert api.read(charge)["amount_refunded"] == 0


@pytest.mark.parametrize("tool", ["capture", "void", "charge", "link", "request"])
def test_each_tool_asks_and_then_does_what_it_says(shop: NewMerchant, api: Api, person: User, tool: str) -> None:
    assistant = Assistant(shop.merchant, [tool])
    arguments: dict[str, Any] = {
        "capture": lambda: {"id": api.held()["id"], "amount": 6_000},
        "void": lambda: {"id": api.held()["id"]},
        "charge": lambda: {"source": kept(api), "amount": 7_000, "currency": "PHP", "description": "Again"},
        "link": lambda: LINK,
        "request": lambda: {
            **{name: LINK[name] for name in ("currency", "payment_method_types", "line_items")},
            "delivery_methods": ["email"],
            "customer": payer(api),
        },
    }[tool]()
    before = Charge.objects.values_list("status", "amount_captured").order_by("pk")
    was = list(before)
    assert assistant.call(tool, **arguments, **wish())["status"] == "proposed"
    assert list(before) == was
    approve(person)
    done = assistant.call(tool, **arguments, **wish())
    assert done["status"] == "done", done
    read = {"link": "payment_link", "request": "payment_request"}.get(tool, "charge")
    shown = assistant.call(f"retrieve_{read}", id=done["made"])
    expected = {"capture": 6_000, "charge": 7_000}.get(tool)
    assert expected is None or shown["amount_captured"] == expected
    assert tool != "void" or shown["status"] == "voided"


def test_a_dry_run_says_what_would_happen_and_writes_nothing(shop: NewMerchant, api: Api, fees: None) -> None:
    assistant = Assistant(shop.merchant, ["charge", "refund PHP 50.00 80.00"])
    source, charge = kept(api), api.charge()
    asks = {"source": source, "amount": 10_000, "currency": "PHP", "description": "Again"}
    would = assistant.call("charge", **asks, **wish(dry_run=True))
    assert (would["amount"], would["fee"], would["left"], would["needs_person"]) == (10_000, 365, 9_635, True)
    would = assistant.call("refund", id=charge["id"], amount=4_000, **wish(dry_run=True))
    assert (would["amount"], would["left"], would["needs_person"]) == (4_000, 6_000, False)
    assert (AssistantCall.objects.count(), Charge.objects.count()) == (0, 1)


def test_a_rule_lets_through_each_amount_and_each_day_and_no_more(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund PHP 30.00 50.00"])

    def status(key: str, amount: int) -> str:
        asked = assistant.call("refund", id=charge["id"], amount=amount, **wish(key))
        return str(asked["status"])

    assert [status("a", 3_001), status("b", 3_000), status("c", 2_001), status("d", 2_000), status("e", 1)] == [
        "proposed", "done", "proposed", "done", "proposed",
    ]  # fmt: skip
    assert api.read(charge)["amount_refunded"] == 5_000


def test_a_rule_is_for_its_currency_and_its_tool(shop: NewMerchant, api: Api) -> None:
    assistant = Assistant(shop.merchant, ["refund USD 30.00 50.00", "void"])
    assert assistant.call("refund", id=api.charge()["id"], amount=100, **wish("a"))["status"] == "proposed"
    assert assistant.call("void", id=api.held()["id"], **wish("b"))["status"] == "proposed"
    with pytest.raises(Failed, match="no_such_tool"):
        assistant.call("capture", id=api.held()["id"], **wish("c"))


def test_a_rolled_key_has_no_second_day(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund PHP 30.00 30.00"])
    assert assistant.call("refund", id=charge["id"], amount=3_000, **wish("a"))["status"] == "done"
    _, assistant.text = roll_key(assistant.key, timedelta())
    assert assistant.call("refund", id=charge["id"], amount=1, **wish("b"))["status"] == "proposed"


def test_an_idempotency_key_is_required_and_is_for_one_call(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund PHP 100.00 100.00"])
    with pytest.raises(Failed, match="idempotency_key: This value is required"):
        assistant.call("refund", id=charge["id"], why="x")
    first = assistant.call("refund", id=charge["id"], amount=1_000, **wish())
    assert assistant.call("refund", id=charge["id"], amount=1_000, **wish()) == first
    with pytest.raises(Failed, match="idempotency_key_reused"):
        assistant.call("refund", id=charge["id"], amount=2_000, **wish())
    assert api.read(charge)["amount_refunded"] == 1_000


def test_what_the_verb_would_refuse_is_refused_at_once(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund", "capture", "charge"])
    with pytest.raises(Failed, match="amount_too_large"):
        assistant.call("refund", id=charge["id"], amount=10_001, **wish())
    with pytest.raises(Failed, match="charge_not_capturable"):
        assistant.call("capture", id=charge["id"], **wish())
    asks = {"amount": 100, "currency": "PHP", "description": "x"}
    with pytest.raises(Failed, match="kept for a customer"):
        assistant.call("charge", source=api.source(), **asks, **wish())
    with pytest.raises(Failed, match="unknown_parameter"):
        assistant.call("charge", source=kept(api), cvc="123", **asks, **wish())
    assert AssistantCall.objects.count() == 0


@pytest.mark.parametrize("tool", ["link", "request"])
def test_nothing_is_made_for_a_customer_of_another_merchant(
    shop: NewMerchant, other_shop: NewMerchant, tool: str
) -> None:
    body = {name: LINK[name] for name in ("currency", "payment_method_types", "line_items")}
    strange = payer(Api(other_shop.keys["sk_test"]))
    with pytest.raises(Failed, match=r"customer|unknown_parameter"):
        Assistant(shop.merchant, [tool]).call(tool, **body, customer=strange, delivery_methods=["email"], **wish())
    assert not AssistantCall.objects.exists()


@pytest.mark.parametrize("tool", ["capture", "void", "refund"])
def test_no_tool_acts_on_a_charge_of_another_merchant_or_mode(
    shop: NewMerchant, other_shop: NewMerchant, api: Api, tool: str
) -> None:
    theirs, assistant = Api(other_shop.keys["sk_test"]).held(), Assistant(shop.merchant, [tool])
    of_live = Assistant(shop.merchant, [tool], livemode=True)
    for each, charge in ((assistant, theirs), (of_live, api.held())):
        with pytest.raises(Failed, match="resource_missing"):
            each.call(tool, id=charge["id"], **wish())
    assert not AssistantCall.objects.exists()


def test_what_has_changed_since_is_refused_by_the_verb(shop: NewMerchant, api: Api, person: User) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund"])
    assistant.call("refund", id=charge["id"], **wish())
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1}))
    request = approve(person)
    assert (request.state, request.code) == ("refused", "amount_too_large")


def test_a_hold_that_is_captured_meanwhile_is_not_given_back(shop: NewMerchant, api: Api, person: User) -> None:
    charge, assistant = api.held(), Assistant(shop.merchant, ["void"])
    assistant.call("void", id=charge["id"], **wish())
    made(api.post(f"/charges/{charge['id']}/capture"))
    request = AssistantCall.objects.get()
    with pytest.raises(PaymentError, match="captured meanwhile"):
        plan_of(key_of(request), request)
    assert approve(person).state == "refused"
    assert api.read(charge)["status"] == "succeeded"


def test_a_call_that_would_move_another_amount_than_was_planned_is_not_asked_for(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund"])
    assistant.call("refund", id=charge["id"], **wish())
    planned = AssistantCall.objects.get()
    planned.id = planned.subject_id = new_id()
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1}))
    with pytest.raises(PaymentError, match="has just changed"):
        submit(planned)
    assert AssistantCall.objects.count() == 1


def test_a_call_whose_key_of_execution_somebody_has_used_ends_as_refused(
    shop: NewMerchant, api: Api, person: User
) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund"])
    assistant.call("refund", id=charge["id"], **wish())
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1}, AssistantCall.objects.get().idempotency_key))
    request = approve(person)
    assert (request.state, request.code) == ("refused", "idempotency_key_reused")


def test_an_assistant_leaves_room_in_the_list_of_others(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund"])
    for number in range(20):
        assistant.call("refund", id=charge["id"], amount=1, **wish(f"w{number}"))
    with pytest.raises(Failed, match="too_many_open"):
        assistant.call("refund", id=charge["id"], amount=1, **wish("one more"))
    assert len(assistant.call("list_asked")["data"]) == 20


def test_a_reason_that_holds_a_secret_is_refused(shop: NewMerchant, api: Api) -> None:
    assistant, charge = Assistant(shop.merchant, ["refund"]), api.charge()
    for secret, code in (("4242424242424242", "card_data"), (api.key, "not_allowed")):
        with pytest.raises(Failed, match=code):
            assistant.call("refund", id=charge["id"], **wish(why=secret))


def test_who_issued_a_key_approves_no_more_of_its_calls_than_they_give_back_alone(shop: NewMerchant, api: Api) -> None:
    charge, assistant, issuer = api.charge(), Assistant(shop.merchant, ["refund"]), member(shop.merchant, name="rosa")
    ApprovalLimit.objects.create(merchant=shop.merchant, currency="PHP", amount=3_000)
    # As the site that they have open sets it.
    issuer.membership = MerchantAccess.objects.get(user=issuer)
    ApiKey.objects.filter(id=assistant.key.id).update(issued_by=issuer)
    _, assistant.text = roll_key(assistant.key, timedelta(hours=1))
    assistant.call("refund", id=charge["id"], amount=3_000, **wish("a"))
    assert approve(issuer).state == "done"
    assistant.call("refund", id=charge["id"], amount=3_001, **wish("b"))
    with pytest.raises(Refused, match="You issued its key"):
        approve(issuer)
    assert approve(member(shop.merchant, name="rita")).state == "done"


ENDINGS: dict[str, Callable[[ApiKey], object]] = {
    "revoked": revoke_key,
    "expired": lambda key: ApiKey.objects.filter(id=key.id).update(expires_at=clock.now()),
    "without the tools": lambda key: ApiKey.objects.filter(id=key.id).update(rules={}),
    "of a closed merchant": lambda key: Merchant.objects.filter(id=key.merchant_id).update(status="closed"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_call_of_a_key_that_may_not_ask_any_more_moves_nothing(
    shop: NewMerchant, api: Api, person: User, ending: str
) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund PHP 30.00 30.00", "void"])
    assistant.call("void", id=api.held()["id"], **wish("a"))
    busy = Charge.objects.filter(id=parse_id("ch", charge["id"]))
    busy.update(operation="capture")
    left = assistant.call("refund", id=charge["id"], amount=3_000, **wish("b"))
    busy.update(operation="")
    ENDINGS[ending](assistant.key)
    with pytest.raises(Refused, match="does not work any more"):
        approve(person)
    with pytest.raises(PaymentError, match="does not work any more"):
        ask(assistant.key, Call("refund", charge["id"], {}), "c", "Sent while the key still worked.")
    request = AssistantCall.objects.get(id=parse_id("apr", left["id"]))
    execute(request)
    assert (left["status"], request.state, request.code) == ("approved", "refused", "key_revoked")


def test_a_late_process_moves_nothing_once_another_has_refused_the_call(shop: NewMerchant, api: Api) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund PHP 30.00 30.00"])
    busy = Charge.objects.filter(id=parse_id("ch", charge["id"]))
    busy.update(operation="capture")
    assistant.call("refund", id=charge["id"], amount=3_000, **wish())
    busy.update(operation="")
    key = ApiKey.objects.filter(id=assistant.key.id)
    key.update(expires_at=clock.now())
    late = AssistantCall.objects.get()
    execute(AssistantCall.objects.get())
    # It had looked at the key before that ended.
    key.update(expires_at=None)
    execute(late)
    assert (AssistantCall.objects.get().state, api.read(charge)["amount_refunded"]) == ("refused", 0)


def test_a_call_that_meets_no_provider_is_tried_again_until_it_expires(
    shop: NewMerchant, api: Api, person: User
) -> None:
    held, assistant = api.held(), Assistant(shop.merchant, ["capture"])
    assistant.call("capture", id=held["id"], **wish())
    with provider(Unreachable()):
        request = approve(person)
        assert request.state == "approved"
        request.expires_at = clock.now()
        execute(request)
    assert (request.state, request.code) == ("refused", "provider_unavailable")
    assistant.call("capture", id=held["id"], **wish("again"))
    with provider(Unreachable()):
        request = approve(person)
    execute(request)
    assert (request.state, api.read(held)["captured"]) == ("done", True)


def test_a_call_counts_in_the_day_in_which_its_turn_comes(
    shop: NewMerchant, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund PHP 30.00 30.00"])
    tomorrow = clock.now() + timedelta(days=1)
    monkeypatch.setattr(kinds.calls, "clock", SimpleNamespace(now=lambda: tomorrow))
    asked = [assistant.call("refund", id=charge["id"], amount=3_000, **wish(key)) for key in "ab"]
    assert [each["status"] for each in asked] == ["done", "proposed"]


def test_the_worker_executes_what_a_dead_process_left(shop: NewMerchant, api: Api, person: User) -> None:
    charge, assistant = api.charge(), Assistant(shop.merchant, ["refund"])
    assistant.call("refund", id=charge["id"], **wish())
    request = AssistantCall.objects.get()
    with crashing(Failpoint.EXECUTING):
        decide.approve(request, person, "Right.")
    AssistantCall.objects.update(updated_at=request.created_at.replace(year=2020))
    execute_left()
    execute_left()
    assert api.read(charge)["amount_refunded"] == 10_000
    assert AssistantCall.objects.get().state == "done"

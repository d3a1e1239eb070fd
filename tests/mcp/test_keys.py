"""Keys of assistants: they work at `/mcp` and nowhere else, and no other key works there."""

from datetime import timedelta

import pytest

from payments.domain.approvals.limits import BadRules, parse_rules
from payments.domain.merchants.api_keys import BadKey, create_key, roll_key
from payments.domain.merchants.assistants import shown_rules
from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey, AuditEntry
from tests.client import Api, error_of, made
from tests.factories import ApiKeyFactory
from tests.mcp.assistant import READS, Assistant, Failed


def test_an_assistants_key_works_nowhere_else(shop: NewMerchant, api: Api) -> None:
    charge, elsewhere = api.charge(), Api(Assistant(shop.merchant).text)
    for answer in (elsewhere.get(f"/charges/{charge['id']}"), elsewhere.post("/charges/", {}), elsewhere.get("/ping")):
        assert (answer.status_code, error_of(answer)["code"]) == (401, "key_invalid")


@pytest.mark.parametrize("kind", ["secret", "publishable", "restricted"])
def test_no_other_key_works_for_assistants(shop: NewMerchant, kind: str) -> None:
    assistant = Assistant(shop.merchant)
    assistant.text = ApiKeyFactory(
        merchant=shop.merchant, kind=kind, rights=["charges:read"] if kind == "restricted" else ()
    ).text
    assert assistant.post("tools/list").status_code == 401


def test_a_revoked_key_ends_at_once(shop: NewMerchant) -> None:
    assistant = Assistant(shop.merchant)
    ApiKey.objects.filter(pk=assistant.key.pk).update(revoked_at=assistant.key.created_at)
    assert assistant.post("tools/list").status_code == 401


def test_a_key_has_the_tools_of_its_rights_and_no_others(shop: NewMerchant, api: Api) -> None:
    assistant, charge = Assistant(shop.merchant, rights=["payouts:read"]), api.charge()
    assert set(assistant.tools()) == {"list_payouts", "retrieve_payout", "list_payout_transactions"}
    with pytest.raises(Failed, match="no_such_tool"):
        assistant.call("retrieve_charge", id=charge["id"])


def test_objects_of_others_and_of_the_other_mode_do_not_exist(
    shop: NewMerchant, other_shop: NewMerchant, api: Api
) -> None:
    charge = api.charge()
    for assistant in (Assistant(other_shop.merchant), Assistant(shop.merchant, livemode=True)):
        with pytest.raises(Failed, match="resource_missing"):
            assistant.call("retrieve_charge", id=charge["id"])
        assert assistant.call("list_charges")["data"] == []


def test_a_page_of_another_origin_is_refused(shop: NewMerchant) -> None:
    assert Assistant(shop.merchant).post("tools/list", Origin="https://evil.example").status_code == 403


def test_there_are_no_streams_and_no_sessions(shop: NewMerchant) -> None:
    assistant = Assistant(shop.merchant)
    for method in ("get", "delete"):
        answer = getattr(assistant.client, method)("/mcp", headers={"Authorization": f"Bearer {assistant.text}"})
        assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_a_long_body_is_refused(shop: NewMerchant) -> None:
    assert Assistant(shop.merchant).post("tools/list", {"text": "x" * 65 * 1024}).status_code == 413


def test_each_call_is_in_the_audit_log_with_the_key_and_the_client(shop: NewMerchant, api: Api) -> None:
    assistant, charge = Assistant(shop.merchant), api.charge()
    assistant.call("retrieve_charge", id=charge["id"])
    entry = AuditEntry.objects.filter(action="called").get()
    assert (entry.actor, entry.object_id) == ("Bookkeeper", str(assistant.key.pk))
    assert entry.detail == f'retrieve_charge {{"id":"{charge["id"]}"}}'
    assert "careful-client" in entry.origin


def test_no_part_of_a_card_number_is_in_the_audit_log(shop: NewMerchant) -> None:
    assistant = Assistant(shop.merchant)
    assistant.call("search", query=980 * "x" + " 4242424242424242")
    with pytest.raises(Failed, match="no_such_tool"):
        assistant.call(55 * "x" + " 4242424242424242")
    assert not AuditEntry.objects.filter(action="called", detail__contains="424").exists()


def test_a_successor_has_the_rules_and_the_account_of_its_key(shop: NewMerchant) -> None:
    key = Assistant(shop.merchant, ["refund PHP 10.00 20.00", "link"]).key
    new, _ = roll_key(key, timedelta())
    assert (new.rules, new.asks_as_id, new.rights) == (key.rules, key.asks_as_id, key.rights)
    assert shown_rules(new.rules) == ["link", "refund PHP 10.00 20.00"]


@pytest.mark.parametrize("rights", [[], ["charges:write"]])
def test_a_key_only_reads(shop: NewMerchant, rights: list[str]) -> None:
    with pytest.raises(BadKey):
        create_key(shop.merchant, False, ApiKey.Kind.ASSISTANT, rights=rights)


def test_no_other_key_has_rules(shop: NewMerchant) -> None:
    with pytest.raises(BadKey):
        create_key(shop.merchant, False, ApiKey.Kind.RESTRICTED, rights=READS, rules=parse_rules(["refund"]))


@pytest.mark.parametrize(
    "rule",
    ["sell", "refund PHP", "refund PHP 10", "refund PHP 20 10", "refund XXX 1 2", "refund PHP -1 2", "refund PHP 0 0"],
)
def test_rules_that_are_not_understood_are_refused(rule: str) -> None:
    with pytest.raises(BadRules):
        parse_rules([rule])


def test_the_account_that_an_assistant_asks_in_is_for_nobody_to_sign_in(shop: NewMerchant) -> None:
    account = Assistant(shop.merchant).key.asks_as
    assert account
    assert (account.is_active, account.is_staff, account.has_usable_password()) == (False, False, False)


def test_me_shows_no_key_of_an_assistant(shop: NewMerchant, api: Api) -> None:
    Assistant(shop.merchant)
    assert not [name for name in made(api.get("/me")) if name.startswith("ak_")]

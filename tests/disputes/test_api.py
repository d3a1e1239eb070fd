"""Disputes as merchants read them."""

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Dispute
from tests.client import Api, error_of, made
from tests.contract.calls import nobodys
from tests.disputes.stories import AT_ONCE, INQUIRY, disputed
from tests.factories import ApiKeyFactory


def test_a_dispute_is_shown_with_everything_that_is_known_of_it(api: Api) -> None:
    charge = disputed(api, AT_ONCE)
    [dispute] = made(api.get("/disputes/"))["data"]
    assert made(api.get(f"/disputes/{dispute['id']}")) == dispute
    assert {
        name: dispute[name] for name in ("object", "amount", "charge", "currency", "reason", "status", "withdrawn")
    } == {
        "object": "dispute",
        "amount": 10_000,
        "charge": charge["id"],
        "currency": "PHP",
        "reason": "fraudulent",
        "status": "needs_response",
        "withdrawn": True,
    }


def test_disputes_are_filtered_by_status_and_charge_and_paged(api: Api) -> None:
    first, second = disputed(api, AT_ONCE), disputed(api, INQUIRY)
    warned = made(api.get("/disputes/", status="warning"))["data"]
    assert [each["charge"] for each in warned] == [second["id"]]
    assert [each["charge"] for each in made(api.get("/disputes/", charge=first["id"]))["data"]] == [first["id"]]
    page = made(api.get("/disputes/", limit=1))
    assert page["data"][0]["charge"] == second["id"]
    following = made(api.get(page["next"].removeprefix("/v2")))
    assert [each["charge"] for each in following["data"]] == [first["id"]]


def test_a_status_that_there_is_not_and_a_charge_of_nobody_are_refused(api: Api) -> None:
    for query in ({"status": "lost_forever"}, {"charge": nobodys("ch")}):
        assert api.get("/disputes/", **query).status_code == 422


def test_a_dispute_of_another_merchant_does_not_exist(api: Api, shop: NewMerchant) -> None:
    disputed(api, AT_ONCE)
    elsewhere = Api(ApiKeyFactory().text)
    assert made(elsewhere.get("/disputes/"))["data"] == []
    assert error_of(elsewhere.get(f"/disputes/{Dispute.objects.get()}"))["code"] == "resource_missing"

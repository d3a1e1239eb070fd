"""Webhook endpoints through the API: their members, bounds, rights and secrets."""

from typing import Any

import pytest
import standardwebhooks
from pytest_django import Settings

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.webhooks.endpoints import ENDPOINTS_MAX
from payments.models import IdempotencyRecord, WebhookEndpoint, WebhookSecret
from payments.webhooks.worker import DeliveryLoop
from tests.client import Api, made
from tests.contract.calls import CALLS, ENDPOINT, faults_of
from tests.contract.shapes import faults_in
from tests.factories import ApiKeyFactory
from tests.support.receiver import Receiver

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/webhook_endpoints/"


def new(api: Api, **members: Any) -> dict[str, Any]:
    return made(api.post(PATH, ENDPOINT | members))


def test_it_is_made_with_a_secret_that_no_later_answer_shows(api: Api) -> None:
    answer = api.post(PATH, ENDPOINT)
    endpoint = made(answer)
    assert (answer.status_code, faults_in(endpoint, CALLS["make an endpoint"].shape)) == (201, [])
    shown = made(api.get(f"{PATH}{endpoint['id']}"))
    assert faults_in(shown, CALLS["read an endpoint"].shape) == []
    assert shown == {name: value for name, value in endpoint.items() if name != "secret"}


def test_a_replayed_answer_is_the_same_endpoint_without_its_secret(api: Api) -> None:
    first, again = (made(api.post(PATH, ENDPOINT, key="once")) for _ in range(2))
    assert again == {name: value for name, value in first.items() if name != "secret"}
    assert WebhookEndpoint.objects.count() == 1
    assert first["secret"].encode() not in bytes(IdempotencyRecord.objects.get().body)


def test_members_given_are_kept_and_others_have_defaults(api: Api) -> None:
    bare = new(api)
    assert (bare["status"], bare["description"], bare["metadata"], bare["livemode"]) == ("enabled", None, {}, False)
    full = new(api, description="Accounting", metadata={"room": 7}, enabled_events=["payout.paid", "dispute.created"])
    assert (full["description"], full["metadata"]) == ("Accounting", {"room": 7})
    assert full["enabled_events"] == ["payout.paid", "dispute.created"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"url": None}, {"url": "missing"}),
        ({"url": "https://user@shop.example/"}, {"url": "invalid_url"}),
        ({"url": "https://10.0.0.1/"}, {"url": "invalid_url"}),
        ({"url": "https://shop.example:22/"}, {"url": "invalid_url"}),
        ({"enabled_events": None}, {"enabled_events": "missing"}),
        ({"enabled_events": []}, {"enabled_events": "too_short"}),
        ({"enabled_events": "*"}, {"enabled_events": "invalid_type"}),
        ({"enabled_events": ["*", "charge.created"]}, {"enabled_events": "not_allowed"}),
        ({"enabled_events": ["charge.created"] * 2}, {"enabled_events": "not_allowed"}),
        ({"enabled_events": ["charge.created", "charge.*"]}, {"enabled_events.1": "invalid_choice"}),
        ({"enabled_events": [7]}, {"enabled_events.0": "invalid_choice"}),
        ({"description": "x" * 256}, {"description": "too_long"}),
        ({"status": "paused"}, {"status": "unknown_parameter"}),
    ],
)
def test_what_is_wrong_is_refused(api: Api, members: dict[str, Any], fault: dict[str, str]) -> None:
    assert faults_of(api.post(PATH, ENDPOINT | members)) == fault


def test_live_mode_takes_https_only(live_api: Api) -> None:
    assert faults_of(live_api.post(PATH, ENDPOINT | {"url": "http://shop.example/"})) == {"url": "invalid_url"}


def test_there_are_sixteen_of_a_merchant_and_mode_at_most(api: Api, live_api: Api) -> None:
    made_ones = [new(api)["id"] for _ in range(ENDPOINTS_MAX)]
    refused = api.post(PATH, ENDPOINT)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_webhook_endpoints")
    new(live_api)
    made(api.delete(f"{PATH}{made_ones[0]}"))
    new(api)


def test_they_are_listed_newest_first_in_pages(api: Api, other_api: Api) -> None:
    new(other_api)
    ids = [new(api)["id"] for _ in range(3)][::-1]
    first = made(api.get(PATH, limit=2))
    assert [each["id"] for each in first["data"]] == ids[:2]
    assert [each["id"] for each in made(api.get(PATH, start_after=ids[1]))["data"]] == ids[2:]


def test_the_members_given_replace_what_was_there(api: Api) -> None:
    endpoint = new(api, description="Accounting")
    path = f"{PATH}{endpoint['id']}"
    changed = made(api.put(path, {"url": "https://shop.example/new", "status": "paused", "metadata": {"a": 1}}))
    assert (changed["url"], changed["status"], changed["metadata"]) == ("https://shop.example/new", "paused", {"a": 1})
    assert changed["description"] == "Accounting"
    assert made(api.put(path, {"description": ""}))["description"] is None
    assert made(api.put(path, {})) == made(api.get(path))
    assert faults_of(api.put(path, {"status": "deleted"})) == {"status": "invalid_choice"}
    assert faults_of(api.put(path, {"url": "https://10.0.0.1/"})) == {"url": "invalid_url"}


def test_one_that_is_deleted_is_gone(api: Api) -> None:
    identity = new(api)["id"]
    assert made(api.delete(f"{PATH}{identity}")) == {"id": identity, "object": "webhook_endpoint", "deleted": True}
    asked = [api.get(f"{PATH}{identity}"), api.put(f"{PATH}{identity}", {}), api.delete(f"{PATH}{identity}")]
    asked += [api.post(f"{PATH}{identity}/{verb}") for verb in ("test", "roll_secret")]
    assert {answer.status_code for answer in asked} == {404}
    assert made(api.get(PATH))["data"] == []


def test_nobody_reaches_those_of_another_merchant_or_mode(api: Api, other_api: Api, live_api: Api) -> None:
    identity = new(api)["id"]
    for outsider in (other_api, live_api):
        assert outsider.get(f"{PATH}{identity}").status_code == 404
        assert outsider.put(f"{PATH}{identity}", {"status": "disabled"}).status_code == 404
        assert outsider.delete(f"{PATH}{identity}").status_code == 404


@pytest.mark.parametrize(("rights", "statuses"), [(["webhooks:read"], (200, 403)), (["webhooks:write"], (403, 201))])
def test_a_restricted_key_needs_the_right(shop: NewMerchant, rights: list[str], statuses: tuple[int, int]) -> None:
    restricted = Api(ApiKeyFactory(merchant=shop.merchant, kind="restricted", rights=rights).text)
    answers = restricted.get(PATH), restricted.post(PATH, ENDPOINT)
    assert tuple(answer.status_code for answer in answers) == statuses


def test_a_rolled_secret_is_shown_once_and_the_one_before_signs_along(api: Api) -> None:
    endpoint = new(api)
    path = f"{PATH}{endpoint['id']}/roll_secret"
    rolled, again = (made(api.post(path, {"overlap_seconds": 60}, key="roll")) for _ in range(2))
    assert faults_in(rolled, CALLS["make an endpoint"].shape) == []
    assert rolled["secret"] != endpoint["secret"]
    assert "secret" not in again
    assert WebhookSecret.objects.filter(endpoint__isnull=False).count() == 2
    assert faults_of(api.post(path, {"overlap_seconds": 604_801})) == {"overlap_seconds": "too_big"}


def test_a_test_event_is_signed_with_the_endpoints_secret_and_its_answer_is_shown(api: Api, settings: Settings) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    with Receiver() as receiver:
        endpoint = new(api, url=receiver.url)
        shown = made(api.post(f"{PATH}{endpoint['id']}/test"))
    [call] = receiver.calls
    standardwebhooks.Webhook(endpoint["secret"]).verify(call.body, call.headers)
    assert (shown["object"], shown["delivered"], shown["status"], shown["error"]) == ("webhook_test", True, 200, None)


def test_a_receiver_that_cannot_be_reached_is_named(api: Api, settings: Settings) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = False
    endpoint = new(api, url="http://127.0.0.1:2002/")
    shown = made(api.post(f"{PATH}{endpoint['id']}/test"))
    assert (shown["delivered"], shown["status"], shown["error"]) == (False, None, "forbidden_address")


def test_an_endpoint_made_by_the_api_gets_the_events_that_follow(api: Api, settings: Settings) -> None:
    settings.NOTIFY_ALLOW_LOOPBACK = True
    with Receiver() as receiver:
        endpoint = new(api, url=receiver.url, enabled_events=["charge.succeeded"])
        charge = api.charge()
        DeliveryLoop().run()
    [call] = receiver.calls
    assert standardwebhooks.Webhook(endpoint["secret"]).verify(call.body, call.headers)["data"]["object"] == charge

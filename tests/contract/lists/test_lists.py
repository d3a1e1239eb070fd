"""Lists: newest first, in pages that lose and repeat nothing, through any filter."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.client import CHALLENGED, DECLINED, Api, made
from tests.contract.calls import customer, each, faults_of, newest_event, newest_request, nobodys, vaulted

LISTS: dict[str, Callable[[Api], str]] = {
    "charges": lambda api: api.charge()["id"],
    "customers": lambda api: customer(api)["id"],
    "events": newest_event,
    "requests": newest_request,
}
PREFIXES = {"charges": "ch", "customers": "cus", "events": "evt", "requests": "req"}
every_list = pytest.mark.parametrize("name", LISTS)


def ids_of(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["data"]]


def pages(api: Api, path: str, meanwhile: Callable[[], object] = lambda: None) -> list[list[str]]:
    """Return the IDs of every page from `path` on, `meanwhile` being done before each next one."""
    page = made(api.get(path))
    found = [ids_of(page)]
    while "next" in page:
        meanwhile()
        page = made(api.client.get(page["next"], headers=api.headers()))
        found.append(ids_of(page))
    return found


def listed(api: Api, **query: Any) -> list[str]:
    return ids_of(made(api.get("/charges/", **query)))


@every_list
def test_an_empty_list_has_no_next(other_api: Api, name: str) -> None:
    assert made(other_api.get(f"/{name}/")) == {"object": "list", "data": []}


@every_list
def test_a_list_is_newest_first(api: Api, name: str) -> None:
    made_here = [LISTS[name](api) for _ in range(3)]
    assert ids_of(made(api.get(f"/{name}/")))[:3] == made_here[::-1]


@pytest.mark.parametrize(("name", "path"), [("charges", "/charges/"), ("customers", "/customers/")])
def test_a_listed_object_is_the_same_as_one_read(api: Api, name: str, path: str) -> None:
    identity = LISTS[name](api)
    assert made(api.get(path))["data"] == [made(api.get(path + identity))]


@pytest.mark.long
@every_list
def test_without_a_limit_a_page_has_twenty(api: Api, name: str) -> None:
    for _ in range(21):
        LISTS[name](api)
    assert len(made(api.get(f"/{name}/"))["data"]) == 20


@every_list
@pytest.mark.parametrize("limit", ["1", "100"])
def test_a_limit_may_be_anything_within_its_bounds(api: Api, name: str, limit: str) -> None:
    assert api.get(f"/{name}/", limit=limit).status_code == 200


@every_list
@each(["0", "101", "-1", "", "1.0", "ten", "1e1", "９", " 5", "true", "9" * 40])
def test_a_limit_beyond_its_bounds_is_refused(api: Api, name: str, value: str) -> None:
    response = api.get(f"/{name}/", limit=value)
    assert faults_of(response).keys() == {"limit"}
    assert response.json()["detail"][0]["loc"] == ["query", "limit"]


@every_list
def test_next_is_the_path_of_the_page_that_follows(api: Api, name: str) -> None:
    made_here = [LISTS[name](api) for _ in range(3)]
    page = made(api.get(f"/{name}/", limit=2))
    assert page["next"].startswith(f"/v2/{name}/?start_after={made_here[1]}")
    assert "limit=2" in page["next"]


@every_list
@pytest.mark.parametrize(("limit", "lengths"), [(2, [2, 2]), (3, [3, 1]), (4, [4]), (5, [4])])
def test_the_last_page_has_no_next_however_full_it_is(api: Api, name: str, limit: int, lengths: list[int]) -> None:
    for _ in range(4):
        LISTS[name](api)
    assert [len(page) for page in pages(api, f"/{name}/?limit={limit}")] == lengths


@pytest.mark.long
@every_list
def test_paging_sees_everything_once_while_more_arrives(api: Api, name: str) -> None:
    made_before = [LISTS[name](api) for _ in range(5)]
    seen = [row for page in pages(api, f"/{name}/?limit=2", lambda: LISTS[name](api)) for row in page]
    assert seen == made_before[::-1]


@every_list
def test_a_page_starts_after_the_object_named(api: Api, name: str) -> None:
    first, second, _ = (LISTS[name](api) for _ in range(3))
    assert ids_of(made(api.get(f"/{name}/", start_after=second)))[0] == first


@every_list
def test_after_the_oldest_there_is_nothing(api: Api, name: str) -> None:
    oldest = LISTS[name](api)
    assert made(api.get(f"/{name}/", start_after=oldest)) == {"object": "list", "data": []}


@every_list
@each(["x", "1", "ch_1", "src_" + "0" * 32, "'; --"])
def test_a_start_that_is_no_id_is_refused(api: Api, name: str, value: str) -> None:
    assert faults_of(api.get(f"/{name}/", start_after=value)).keys() == {"start_after"}


@every_list
def test_an_empty_start_is_none(api: Api, name: str) -> None:
    newest = [LISTS[name](api) for _ in range(3)][-1]
    assert ids_of(made(api.get(f"/{name}/?start_after=")))[0] == newest


@every_list
def test_a_start_that_never_was_is_refused(api: Api, name: str) -> None:
    LISTS[name](api)
    assert faults_of(api.get(f"/{name}/", start_after=nobodys(PREFIXES[name]))).keys() == {"start_after"}


@every_list
@pytest.mark.parametrize("owner", ["other_api", "live_api"])
def test_a_start_of_somebody_else_is_refused(request: pytest.FixtureRequest, api: Api, name: str, owner: str) -> None:
    LISTS[name](api)
    other: Api = request.getfixturevalue(owner)
    if name == "customers" or owner == "other_api":
        foreign = LISTS[name](other)
    elif name == "events":
        customer(other)
        foreign = ids_of(made(other.get("/events/")))[0]
    else:
        foreign, api = LISTS[name](api), other
    response = api.get(f"/{name}/", start_after=foreign)
    assert faults_of(response).keys() == {"start_after"}
    assert response.json()["detail"][0]["loc"] == ["query", "start_after"]


def a_charge_of_each_sort(api: Api) -> dict[str, str]:
    """Return the IDs of one charge of every status, and of a held one."""
    voided, refunded = api.held(), api.charge()
    made(api.post(f"/charges/{voided['id']}/void"))
    made(api.post(f"/charges/{refunded['id']}/refund"))
    return {
        "voided": voided["id"],
        "refunded": refunded["id"],
        "pending": api.charge(CHALLENGED)["id"],
        "failed": api.charge(DECLINED)["id"],
        "held": api.held()["id"],
        "captured": api.charge()["id"],
    }


@pytest.mark.parametrize(
    ("query", "sorts"),
    [
        ({"status": "pending"}, ["pending"]),
        ({"status": "succeeded"}, ["captured", "held"]),
        ({"status": "failed"}, ["failed"]),
        ({"status": "voided"}, ["voided"]),
        ({"status": "refunded"}, ["refunded"]),
        ({"captured": "true"}, ["captured", "refunded"]),
        ({"captured": "false"}, ["held", "failed", "pending", "voided"]),
        ({"authorized": "true"}, ["held"]),
        ({"status": "succeeded", "authorized": "false"}, ["captured"]),
        ({"status": "voided", "captured": "false"}, ["voided"]),
        ({"authorized": "false", "captured": "false"}, ["failed", "pending", "voided"]),
    ],
)
def test_filters_narrow_the_list(api: Api, query: dict[str, str], sorts: list[str]) -> None:
    charges = a_charge_of_each_sort(api)
    assert listed(api, **query) == [charges[sort] for sort in sorts]


def test_charges_are_found_by_their_source(api: Api) -> None:
    source = vaulted(api)
    first, _, second = api.charge_source(source), api.charge(), api.charge_source(source)
    assert listed(api, source=source) == [second["id"], first["id"]]


def test_charges_are_found_by_their_customer(api: Api) -> None:
    source = vaulted(api)
    owner = made(api.get("/customers/"))["data"][0]["id"]
    first, _, second = api.charge_source(source), api.charge(), api.charge_source(source)
    assert listed(api, customer=owner) == [second["id"], first["id"]]


@pytest.mark.parametrize("name", ["source", "customer"])
def test_the_charges_of_somebody_elses_object_are_not_listed(api: Api, other_api: Api, name: str) -> None:
    source = vaulted(other_api)
    other_api.charge_source(source)
    api.charge()
    theirs = {"source": source, "customer": made(other_api.get("/customers/"))["data"][0]["id"]}
    assert faults_of(api.get("/charges/", **{name: theirs[name]})) == {name: "invalid_choice"}


@pytest.mark.parametrize("form", ["Z", "+00:00", "+08:00"])
def test_charges_are_found_by_the_time_of_their_creation(api: Api, form: str) -> None:
    first, second, third = (api.charge() for _ in range(3))
    moment = datetime.fromisoformat(second["created_at"])
    local = moment + timedelta(hours=8 if form == "+08:00" else 0)
    text = local.strftime("%Y-%m-%dT%H:%M:%S.%f") + form
    assert listed(api, **{"created_at[gte]": text}) == [third["id"], second["id"]]
    assert listed(api, **{"created_at[lt]": text}) == [first["id"]]
    after = (local + timedelta(microseconds=1)).strftime("%Y-%m-%dT%H:%M:%S.%f") + form
    assert listed(api, **{"created_at[gte]": text, "created_at[lt]": after}) == [second["id"]]


@pytest.mark.parametrize(
    "query",
    [
        {"status": "done"},
        {"status": ""},
        {"captured": "yes"},
        {"captured": "1"},
        {"captured": "True"},
        {"authorized": ""},
        {"created_at[gte]": "yesterday"},
        {"created_at[lt]": ""},
        {"created_at[gte]": "2026-13-01"},
        {"created_at[gt]": "2026-01-01"},
        {"created_at": "2026-01-01"},
        {"Status": "failed"},
        {"page": "2"},
        {"email": "maria@shop.example"},
    ],
)
def test_a_filter_that_means_nothing_is_refused(api: Api, query: dict[str, str]) -> None:
    assert faults_of(api.get("/charges/", **query)).keys() == query.keys()


def test_every_fault_of_a_query_is_reported_at_once(api: Api) -> None:
    query = {"limit": "0", "status": "done", "captured": "yes", "colour": "red"}
    assert faults_of(api.get("/charges/", **query)).keys() == query.keys()


@pytest.mark.parametrize(
    "query",
    [
        {"status": "succeeded", "captured": "true", "authorized": "false"},
        {"created_at[gte]": "2026-01-01T00:00:00+08:00", "created_at[lt]": "2099-01-01"},
    ],
)
def test_next_keeps_every_filter(api: Api, query: dict[str, str]) -> None:
    for _ in range(2):
        api.charge()
    page = made(api.get("/charges/", limit=1, **query))
    kept = api.client.get(page["next"], headers=api.headers()).wsgi_request.GET
    assert {name: kept[name] for name in query} == query


def test_a_filtered_list_is_followed_to_its_end(api: Api) -> None:
    source = vaulted(api)
    charges = [api.charge_source(source)["id"] for _ in range(5)]
    seen = pages(api, f"/charges/?limit=2&status=succeeded&source={source}", lambda: api.charge(DECLINED))
    assert [len(page) for page in seen] == [2, 2, 1]
    assert [row for page in seen for row in page] == charges[::-1]


def test_a_page_may_start_after_a_charge_that_the_filter_leaves_out(api: Api) -> None:
    first, failed = api.charge(), api.charge(DECLINED)
    assert listed(api, status="succeeded", start_after=failed["id"]) == [first["id"]]


@pytest.mark.long
@every_list
def test_the_number_of_statements_does_not_grow_with_the_page(api: Api, name: str) -> None:
    source = vaulted(api)
    for _ in range(6):
        LISTS[name](api)
        charge = api.charge_source(source)
        api.post(f"/charges/{charge['id']}/refund")
    counts = set()
    for limit in (1, 5, 20):
        with CaptureQueriesContext(connection) as statements:
            api.get(f"/{name}/", limit=limit)
        counts.add(len(statements))
    assert len(counts) == 1


@pytest.mark.parametrize("path", ["/charges/", "/payouts/", "/balance_transactions/"])
@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999999999Z"])
def test_a_list_up_to_the_last_moment_is_the_whole_list(api: Api, path: str, moment: str) -> None:
    api.charge()
    assert api.get(path, **{"created_at[lt]": moment}).content == api.get(path).content

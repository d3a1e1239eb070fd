"""Lists of customers, and whose customers a key sees: those of its own merchant and mode, and only with the right."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api, error_of, made
from tests.customers.factories import MARIA, attach, new_customer, read


def ids_in(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["data"]]


def test_customers_are_listed_whole_and_newest_first(api: Api) -> None:
    first, second = new_customer(api), new_customer(api)
    source = attach(api, first)

    page = made(api.get("/customers/"))

    assert page.keys() == {"object", "data"}
    assert ids_in(page) == [second["id"], first["id"]]
    assert [ids_in({"data": row["sources"]}) for row in page["data"]] == [[], [source]]


def test_following_next_sees_every_customer_once_though_new_ones_arrive(api: Api) -> None:
    everybody = [new_customer(api)["id"] for _ in range(5)]
    page = made(api.get("/customers/", limit=2))
    seen = ids_in(page)

    while "next" in page:
        new_customer(api)
        address = urlsplit(page["next"])
        assert address.path == "/v2/customers/"
        page = made(api.get("/customers/", **{name: value for name, [value] in parse_qs(address.query).items()}))
        seen += ids_in(page)

    assert seen == everybody[::-1]


def test_next_keeps_the_filter(api: Api) -> None:
    for email in ("ab@example.ph", "a+b@example.ph", "a+b@example.ph"):
        new_customer(api, email=email)

    page = made(api.get("/customers/", limit=1, email="a+b@example.ph"))

    assert parse_qs(urlsplit(page["next"]).query)["email"] == ["a+b@example.ph"]
    assert made(api.client.get(page["next"], headers=api.headers()))["data"][0]["email"] == "a+b@example.ph"


def test_the_email_filter_wants_exactly_this_address(api: Api) -> None:
    wanted = [new_customer(api, email="a@example.ph")["id"] for _ in range(2)]
    new_customer(api, email="A@example.ph")
    new_customer(api, email="a@example.ph.org")

    assert ids_in(made(api.get("/customers/", email="a@example.ph"))) == wanted[::-1]
    assert made(api.get("/customers/", email="nobody@example.ph"))["data"] == []


def test_a_deleted_customer_is_in_no_list_but_still_marks_a_place(api: Api) -> None:
    oldest, middle, newest = (new_customer(api) for _ in range(3))

    api.delete(f"/customers/{middle['id']}")

    assert ids_in(made(api.get("/customers/"))) == [newest["id"], oldest["id"]]
    assert ids_in(made(api.get("/customers/", start_after=middle["id"]))) == [oldest["id"]]


@pytest.mark.parametrize("start", ["cus_" + "0" * 32, "nonsense"])
def test_a_start_that_names_no_customer_is_refused(api: Api, maria: dict[str, Any], start: str) -> None:
    response = api.get("/customers/", start_after=start)

    assert response.status_code == 422
    assert error_of(response)["param"] == "start_after"


@pytest.mark.parametrize("count", [1, 4])
def test_a_list_takes_the_same_few_statements_whatever_its_length(
    api: Api, django_assert_num_queries: Callable[..., Any], count: int
) -> None:
    for _ in range(count):
        customer = new_customer(api)
        attach(api, customer)
        attach(api, customer)

    with django_assert_num_queries(2):
        page = made(api.get("/customers/"))

    assert [len(row["sources"]) for row in page["data"]] == [2] * count


# --- the `customer` filter of charges


def test_the_charges_of_a_customer_are_those_on_its_sources(api: Api, maria: dict[str, Any]) -> None:
    kept, other = attach(api, maria), attach(api, new_customer(api))
    wanted = [api.charge_source(kept)["id"] for _ in range(2)]
    api.charge_source(other)
    api.charge()

    assert ids_in(made(api.get("/charges/", customer=maria["id"]))) == wanted[::-1]


@pytest.mark.parametrize("path", ["/customers/{id}/sources/{source}", "/customers/{id}"])
def test_the_charges_stay_when_the_source_or_the_customer_goes(api: Api, maria: dict[str, Any], path: str) -> None:
    source = attach(api, maria)
    charge = api.charge_source(source)

    made(api.delete(path.format(**maria, source=source)))

    assert ids_in(made(api.get("/charges/", customer=maria["id"]))) == [charge["id"]]
    assert api.read(charge)["status"] == "succeeded"


CALLS = [
    ("GET", "/customers/{id}", None),
    ("PUT", "/customers/{id}", {"description": "Taken over"}),
    ("PUT", "/customers/{id}", {}),
    ("DELETE", "/customers/{id}", None),
    ("GET", "/customers/by_email/{email}", None),
    ("POST", "/customers/{id}/sources", {"source": "src_0"}),
    ("DELETE", "/customers/{id}/sources/{source}", None),
]


@pytest.fixture
def outsiders(shop: NewMerchant, other_shop: NewMerchant) -> list[Api]:
    """Return clients of the merchant's other mode, and of another merchant in the same mode."""
    return [Api(shop.keys["sk_live"]), Api(other_shop.keys["sk_test"])]


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_somebody_elses_customer_does_not_exist(
    api: Api, outsiders: list[Api], maria: dict[str, Any], method: str, path: str, body: Any
) -> None:
    source = attach(api, maria)
    before = read(api, maria)

    for outsider in outsiders:
        response = outsider.send(method, path.format(**maria, source=source), body, {})
        assert response.status_code == 404
        assert error_of(response)["message"] == "No such customer."
    assert read(api, maria) == before


def test_lists_hold_only_ones_own_customers(outsiders: list[Api], maria: dict[str, Any]) -> None:
    assert [made(outsider.get("/customers/"))["data"] for outsider in outsiders] == [[], []]
    assert [outsider.get("/customers/", start_after=maria["id"]).status_code for outsider in outsiders] == [422, 422]


def test_somebody_elses_source_cannot_be_attached(api: Api, outsiders: list[Api]) -> None:
    source = api.wallet()

    for outsider in outsiders:
        customer = new_customer(outsider)
        response = outsider.post(f"/customers/{customer['id']}/sources", {"source": source})
        assert (response.status_code, error_of(response)["param"]) == (404, "source")
    assert made(api.get(f"/sources/{source}"))["used"] is False


@pytest.mark.parametrize(
    ("method", "path", "body"), [("GET", "/customers/", None), ("POST", "/customers/", MARIA), *CALLS]
)
def test_a_publishable_key_may_not(shop: NewMerchant, maria: dict[str, Any], method: str, path: str, body: Any) -> None:
    response = Api(shop.keys["pk_test"]).send(method, path.format(**maria, source="src_0"), body, {})

    assert response.status_code == 403
    assert error_of(response)["code"] == "secret_key_required"


@pytest.mark.parametrize(
    "name", ["cus_0", "by_email", "CUS_{hex}", "{hex}", "src_{hex}", "cus_{hex}0", "cus_" + "0" * 32]
)
def test_what_is_no_customers_id_finds_nobody(api: Api, maria: dict[str, Any], name: str) -> None:
    response = api.get(f"/customers/{name.format(hex=maria['id'].removeprefix('cus_'))}")

    assert response.status_code == 404

"""Whose customers a key sees: those of its own merchant and mode, and only with a secret key."""

from typing import Any

import pytest

from payments.domain.merchants.merchants import NewMerchant
from tests.client import Api, error_of, made
from tests.customers.factories import MARIA, attach, new_customer, read

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

"""Several installations behind one address: a real HAProxy leads each request to the cell that its key names."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from pytest_django import Settings

from config.boot.checks import check_environment
from payments.domain.merchants.api_keys import create_key, find_key
from payments.domain.merchants.merchants import NewMerchant
from payments.models import ApiKey
from payments.quickstart.ports import HOST
from payments.sensitive_data.redaction import redact
from tests.client import Api
from tests.deploy.conftest import proxy_of_cells
from tests.support.http_server import Answered, Asked, answering

RANDOM = "0123456789abcdef" * 3
MOVED, MOVING = f"sk_live_second_{RANDOM[::-1]}", f"sk_live_{RANDOM[::-1]}"


@contextmanager
def cell(name: str) -> Iterator[str]:
    """Yield the address of what answers with its name, and the address that the proxy says the client has."""

    def answer(asked: Asked) -> Answered:
        return Answered(200, f"{name} {asked.headers.get('X-Forwarded-For', '')}".encode())

    with answering(answer) as server:
        yield server.address.removeprefix("http://")


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    digests = [hashlib.sha256(key.encode()).hexdigest().upper() for key in (MOVED, MOVING)]
    moved = f"{digests[0]} first\n{digests[1]} moving\n"
    folder = tmp_path_factory.mktemp("cells")
    with cell("first") as first, cell("second") as second, proxy_of_cells(folder, first, second, moved) as client:
        yield client


def basic(key: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{key}:".encode()).decode()}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.tools
@pytest.mark.parametrize("header", [basic, bearer])
@pytest.mark.parametrize("kind", ["sk_live", "sk_test", "rk_live", "rk_test", "pk_live", "pk_test"])
def test_a_key_leads_to_its_cell(proxy: httpx2.Client, kind: str, header: Any) -> None:
    assert proxy.get("/v2/me", headers=header(f"{kind}_second_{RANDOM}")).text.split()[0] == "second"
    assert proxy.post("/v2/charges/", headers=header(f"{kind}_{RANDOM}"), json={}).text.split()[0] == "first"


@pytest.mark.tools
@pytest.mark.parametrize(("key", "cell"), [(f"pk_live_second_{RANDOM}", "second"), (MOVED, "first"), ("", "first")])
def test_a_frame_of_card_fields_comes_from_the_cell_of_its_key(proxy: httpx2.Client, key: str, cell: str) -> None:
    assert proxy.get("/components/index.html", params={"key": key, "field": "cardCvc"}).text.split()[0] == cell


@pytest.mark.tools
@pytest.mark.parametrize("headers", [{}, basic("sk_live_nowhere_00"), {"Authorization": "Basic ???"}, bearer("none")])
def test_what_has_no_key_of_any_cell_is_refused_by_the_first(proxy: httpx2.Client, headers: dict[str, str]) -> None:
    assert proxy.get("/v2/me", headers=headers).text.split()[0] == "first"


@pytest.mark.tools
def test_a_key_of_a_merchant_who_has_moved_leads_to_the_new_cell(proxy: httpx2.Client) -> None:
    assert proxy.get("/v2/me", headers=basic(MOVED)).text.split()[0] == "first"


@pytest.mark.tools
def test_a_merchant_who_is_being_moved_is_asked_to_wait(proxy: httpx2.Client) -> None:
    answer = proxy.post("/v2/charges/", headers=bearer(MOVING), json={})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert answer.json()["error"]["code"] == "internal_error"


@pytest.mark.tools
def test_a_cell_is_given_the_address_that_is_true(proxy: httpx2.Client) -> None:
    answer = proxy.get("/v2/me", headers=basic(f"sk_live_second_{RANDOM}") | {"X-Forwarded-For": "203.0.113.9"})
    assert answer.text.split()[1] == HOST


def test_a_key_that_is_made_in_a_cell_names_it_and_works(shop: NewMerchant, settings: Settings) -> None:
    settings.CELL = "second"
    key, text = create_key(shop.merchant, False, ApiKey.Kind.SECRET)
    assert re.fullmatch(r"sk_test_second_[0-9a-f]{48}", text)
    assert Api(text).get("/me").status_code == 200
    assert find_key(text) == key
    assert RANDOM not in redact(f"sk_test_second_{RANDOM}")


def test_without_a_cell_a_key_names_none(shop: NewMerchant) -> None:
    assert re.fullmatch(r"sk_test_[0-9a-f]{48}", shop.keys["sk_test"])


@pytest.mark.long
@pytest.mark.parametrize("name", ["Second", "2nd", "se_cond", "a" * 9, "sécond", "a "])
def test_a_cell_of_another_form_is_refused_at_boot(settings: Settings, name: str) -> None:
    settings.CELL = name
    assert any("CELL" in str(fault.msg) for fault in check_environment())

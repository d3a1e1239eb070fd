"""Which pages may use a publishable key: its list of origins, by the calls of card fields and by the others."""

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse

from payments.domain.merchants import origins
from payments.domain.merchants.api_keys import find_key, roll_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.origins import BadOrigins
from payments.models import ApiKey
from tests.checkout.shelf import by_alias
from tests.client import Api, error_of

SHOP, ELSEWHERE = "https://shop.example", "https://elsewhere.example"
ALIAS, CANONICAL = "/api/v2/sources", "/v2/sources"
WALLET = b'{"type": "gcash"}'
# The key, its list, the path, the page's origin, and whether it may.
CASES: list[tuple[str, list[str], str, str | None, bool]] = [
    ("pk_test", [], ALIAS, ELSEWHERE, True),
    ("pk_test", [SHOP], ALIAS, SHOP, True),
    ("pk_test", [SHOP], ALIAS, ELSEWHERE, False),
    ("pk_test", [SHOP], ALIAS, "null", False),
    ("pk_test", [SHOP], ALIAS, "http://testserver", True),
    ("pk_test", [SHOP], ALIAS, None, True),
    ("pk_test", [SHOP], CANONICAL, SHOP, True),
    ("pk_test", [SHOP], CANONICAL, ELSEWHERE, False),
    ("pk_test", [SHOP], CANONICAL, "https://shop.example:8443", False),
    ("pk_live", [], CANONICAL, ELSEWHERE, True),
    ("pk_live", [], ALIAS, SHOP, False),
    ("pk_live", [], ALIAS, "http://testserver", True),
    ("pk_live", [SHOP], ALIAS, SHOP, True),
    ("pk_live", [SHOP], ALIAS, ELSEWHERE, False),
    ("sk_test", [], ALIAS, ELSEWHERE, True),
]


def ask(key: str, path: str, origin: str | None) -> HttpResponse:
    """Ask for a wallet's source; a refusal of its type is past the check."""
    return by_alias(Api(key), "POST", path, WALLET, headers={"Origin": origin} if origin else {})


@pytest.mark.parametrize(("key", "listed", "path", "origin", "may"), CASES)
def test_a_page_uses_a_key_where_its_origin_is_one_of_the_keys(
    shop: NewMerchant, key: str, listed: list[str], path: str, origin: str | None, may: bool
) -> None:
    text = shop.keys.get(key) or made_live(shop)
    if listed:
        origins.set_origins(find_key(text), listed)
    response = ask(text, path, origin)
    code = error_of(response)["code"] if response.status_code >= 400 else None
    assert (code != "origin_not_allowed") is may
    assert ("Access-Control-Allow-Origin" in response) is (may and origin is not None)


def made_live(shop: NewMerchant) -> str:
    return str(ApiKey.objects.get(merchant=shop.merchant, livemode=True, kind="publishable").public_text)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_strange_page_reads_no_answer(shop: NewMerchant, method: str) -> None:
    origins.set_origins(find_key(shop.keys["pk_test"]), [SHOP])
    api = Api(shop.keys["pk_test"])
    response = api.send(method, "/charges/", None, {"Origin": ELSEWHERE})
    assert response.status_code == 403
    assert "Access-Control-Allow-Origin" not in response


def test_a_preflight_is_answered_without_a_key(api: Api) -> None:
    asked: dict[str, Any] = {"Origin": SHOP, "Access-Control-Request-Method": "POST"}
    response = by_alias(api, "OPTIONS", ALIAS, headers=asked)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (200, "*")


@pytest.mark.parametrize("path", ["/api/v2/health", "/api/v2/health/"])
def test_the_health_of_the_calls_is_public_and_for_every_page(db: None, path: str) -> None:
    response = by_alias(Api(""), "GET", path, headers={"Origin": ELSEWHERE})
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert response["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("path", ["/api/v2/charges", "/api/v2", "/api/v2/sourcesx"])
def test_no_other_call_has_this_alias(api: Api, path: str) -> None:
    assert by_alias(api, "GET", path).status_code == 404


# What is written, and the origin as a browser sends it.
WRITTEN = {
    "https://shop.example": SHOP,
    " HTTPS://Shop.Example/ ": SHOP,
    "https://shop.example:443": SHOP,
    "https://shop.example:8443": "https://shop.example:8443",
    "http://localhost:8080": "http://localhost:8080",
    "http://[::1]:8080": "http://[::1]:8080",
    "https://tindahán.example": "https://xn--tindahn-mwa.example",
}


@pytest.mark.parametrize(("text", "origin"), WRITTEN.items())
def test_an_origin_is_kept_as_a_browser_sends_it(shop: NewMerchant, text: str, origin: str) -> None:
    assert origins.set_origins(find_key(shop.keys["pk_test"]), [text, text]) == [origin]


@pytest.mark.parametrize(
    "text",
    [
        *("shop.example", "https://", "https://shop.example/pay", "https://shop.example?x", "https://shop.example#x"),
        *("https://*.shop.example", "*", "null", "https://a@shop.example"),
        *("ftp://shop.example", "https://shop.example:x"),
        *("https://shop.example;", "https://shop.example,https://b.example"),
        *("https://a'b.example", f"https://{'a' * 300}"),
    ],
)
def test_what_is_no_origin_is_refused(shop: NewMerchant, text: str) -> None:
    with pytest.raises(BadOrigins):
        origins.set_origins(find_key(shop.keys["pk_test"]), [text])


def test_a_live_page_has_https(shop: NewMerchant) -> None:
    with pytest.raises(BadOrigins, match="https"):
        origins.set_origins(find_key(made_live(shop)), ["http://shop.example"])


def test_a_key_has_at_most_sixteen_origins(shop: NewMerchant) -> None:
    key, listed = find_key(shop.keys["pk_test"]), [f"https://{count}.example" for count in range(17)]
    with pytest.raises(BadOrigins, match="16"):
        origins.set_origins(key, listed)
    assert origins.set_origins(key, listed[1:]) == listed[1:]


def test_a_secret_key_has_no_origins(shop: NewMerchant) -> None:
    with pytest.raises(BadOrigins, match="publishable"):
        origins.set_origins(find_key(shop.keys["sk_test"]), [SHOP])


def test_the_successor_of_a_key_has_its_origins(shop: NewMerchant) -> None:
    key = find_key(shop.keys["pk_test"])
    origins.set_origins(key, [SHOP])
    key.refresh_from_db()
    assert roll_key(key, timedelta())[0].allowed_origins == [SHOP]

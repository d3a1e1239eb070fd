"""The frame of a card field and the script that puts it into a page: who may frame it, and how both are kept."""

import base64
import hashlib
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client

from payments import clock
from payments.domain.merchants.api_keys import find_key, revoke_key
from payments.domain.merchants.merchants import NewMerchant
from payments.domain.merchants.origins import set_origins
from payments.models import ApiKey

GUIDE = Path(__file__).resolve().parents[2] / "templates" / "guides" / "card-fields.md"
MOST_BYTES = 12 * 1024
SHOP, WWW = "https://shop.example", "https://www.shop.example"


def field(key: str = "", name: str = "cardNumber", **headers: str) -> HttpResponse:
    return Client(headers=headers).get("/components/index.html", {"key": key, "field": name})


def ancestors(response: HttpResponse) -> str:
    [found] = [part for part in response["Content-Security-Policy"].split("; ") if part.startswith("frame-ancestors")]
    return found.removeprefix("frame-ancestors ")


def live_key(shop: NewMerchant) -> ApiKey:
    return ApiKey.objects.get(merchant=shop.merchant, livemode=True, kind="publishable")


def test_any_page_frames_a_test_key_without_a_list(shop: NewMerchant) -> None:
    response = field(shop.keys["pk_test"])
    assert ancestors(response) == "*"
    assert "X-Frame-Options" not in response


def test_no_page_frames_a_live_key_without_a_list(shop: NewMerchant) -> None:
    response = field(live_key(shop).public_text)
    assert (ancestors(response), response["X-Frame-Options"]) == ("'none'", "DENY")


@pytest.mark.parametrize("livemode", [False, True])
def test_the_pages_of_the_list_frame_a_key(shop: NewMerchant, livemode: bool) -> None:
    key = ApiKey.objects.get(merchant=shop.merchant, livemode=livemode, kind="publishable")
    set_origins(key, [SHOP, WWW])
    assert ancestors(field(key.public_text)) == f"{SHOP} {WWW}"


def revoked(shop: NewMerchant) -> str:
    revoke_key(find_key(shop.keys["pk_test"]))
    return shop.keys["pk_test"]


def expired(shop: NewMerchant) -> str:
    ApiKey.objects.filter(pk=find_key(shop.keys["pk_test"]).pk).update(expires_at=clock.now())
    return shop.keys["pk_test"]


def closed(shop: NewMerchant) -> str:
    shop.merchant.status = "closed"
    shop.merchant.save()
    return shop.keys["pk_test"]


NO_KEYS = {
    "none": lambda _: "",
    "unknown": lambda _: f"pk_test_{'0' * 48}",
    "a secret one": lambda shop: shop.keys["sk_test"],
    "revoked": revoked,
    "expired": expired,
    "of a closed merchant": closed,
    "a header's end": lambda shop: f"{shop.keys['pk_test']};script-src *",
}


@pytest.mark.parametrize("make", NO_KEYS.values(), ids=NO_KEYS)
def test_no_page_frames_fields_for_a_key_that_does_not_work(shop: NewMerchant, make: object) -> None:
    key = make(shop)
    response = field(key)
    assert (response.status_code, ancestors(response), response["X-Frame-Options"]) == (200, "'none'", "DENY")


def test_a_frame_uses_the_key_that_was_looked_at_and_no_other(shop: NewMerchant) -> None:
    key = shop.keys["pk_test"]
    assert f'data-key="{key}"' in field(key).content.decode()
    # With a list of one's own, a page shows the fields of one's own key, and of no other by another reading.
    victim = live_key(shop).public_text
    answer = Client().get(f"/components/index.html?key={victim}&key={key}")
    assert (answer.status_code, ancestors(answer), victim in answer.content.decode()) == (400, "'none'", False)
    assert 'data-key=""' in field(victim).content.decode()


def test_the_script_of_a_frame_reads_no_address() -> None:
    script = (GUIDE.parents[2] / "payments" / "static" / "payments" / "card_frame.js").read_text()
    assert "location.search" not in script
    assert "URLSearchParams" not in script


def test_a_frame_loads_and_calls_nothing_of_others(shop: NewMerchant) -> None:
    response = field(shop.keys["pk_test"])
    policy = dict(part.split(" ", 1) for part in response["Content-Security-Policy"].split("; "))
    assert policy.pop("frame-ancestors") == "*"
    assert set(policy.values()) == {"'none'", "'self'"}
    assert policy["default-src"] == policy["form-action"] == policy["base-uri"] == "'none'"
    assert (response["Cache-Control"], response["Referrer-Policy"]) == ("no-store", "no-referrer")
    assert not response.cookies


def test_a_frame_speaks_the_payers_language(shop: NewMerchant) -> None:
    text = field(shop.keys["pk_test"], **{"Accept-Language": "fil"}).content.decode()
    assert '<html lang="fil">' in text
    assert "Numero ng card" in text


def test_there_is_no_other_field(shop: NewMerchant) -> None:
    assert field(shop.keys["pk_test"], "cardPin").status_code == 404


@pytest.mark.parametrize("path", ["/sdk/kaha.js", "/sdk/magpie.js", "/sdk/1/kaha.js", "/sdk/1/magpie.js"])
def test_the_script_is_small_and_named_by_its_hash(path: str) -> None:
    response = Client().get(path)
    assert response["Content-Type"] == "text/javascript; charset=utf-8"
    assert response["Access-Control-Allow-Origin"] == "*"
    assert len(response.content) < MOST_BYTES
    assert response["ETag"] == f'"{hashlib.sha256(response.content).hexdigest()}"'
    assert Client(headers={"If-None-Match": response["ETag"]}).get(path).status_code == 304


def test_a_version_is_kept_for_long_and_the_newest_is_not() -> None:
    assert Client().get("/sdk/1/kaha.js")["Cache-Control"] == "public, max-age=31536000, immutable"
    assert Client().get("/sdk/kaha.js")["Cache-Control"] == "public, max-age=300"
    assert Client().get("/sdk/2/kaha.js").status_code == 404


def test_the_guide_has_the_hash_of_the_script() -> None:
    digest = base64.b64encode(hashlib.sha384(Client().get("/sdk/1/kaha.js").content).digest()).decode()
    assert f'integrity="sha384-{digest}"' in GUIDE.read_text()

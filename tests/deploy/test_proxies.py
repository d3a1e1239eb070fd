"""Behind the proxies of config/deploy, and with none, nobody says by a header who they are or how they came."""

import base64
import json
import re
from collections.abc import Iterator

import httpx2
import pytest
from pytest_django.plugin import DjangoDbBlocker

from payments.domain.merchants.merchants import NewMerchant
from payments.staff.models import SignInFailures
from payments.staff.sign_in.lockout import key_of
from tests.checkout.cast import ORDER
from tests.client import Api
from tests.contract.calls import new_dispute
from tests.deploy.conftest import CLIENT, PRODUCTS, Front
from tests.empty_database import emptied_once
from tests.factories import ApiKeyFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
FORGED = "203.0.113.9"
behind_a_proxy = pytest.mark.parametrize("front", ["nginx", "haproxy"], indirect=True)
forged = pytest.mark.parametrize("header", ["X-Forwarded-For", "X_Forwarded_For", "x_forwarded-for"])


@pytest.fixture(scope="module", autouse=True)
def _is_emptied_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep what each test commits until the last one: no test sees another merchant's."""
    with emptied_once(django_db_blocker):
        yield


def key_from(shop: NewMerchant, network: str) -> httpx2.BasicAuth:
    """Return a key that works from this network alone."""
    return httpx2.BasicAuth(ApiKeyFactory(merchant=shop.merchant, networks=[network]).text, "")


@forged
def test_a_key_of_another_network_does_not_work_by_a_header(front: Front, shop: NewMerchant, header: str) -> None:
    with front.client() as client:
        answer = client.get("/v2/ping", auth=key_from(shop, f"{FORGED}/32"), headers={header: FORGED})
    assert answer.status_code == 401


@forged
def test_a_key_works_from_its_own_network_whatever_a_header_says(front: Front, shop: NewMerchant, header: str) -> None:
    with front.client() as client:
        answer = client.get("/v2/ping", auth=key_from(shop, f"{CLIENT}/32"), headers={header: FORGED})
    assert answer.status_code == 200


@forged
def test_an_anonymous_request_counts_at_the_client_address(front: Front, header: str) -> None:
    with front.client() as client:
        left = [left_of(client.get("/v2/ping", headers={header: f"203.0.113.{number}"})) for number in range(3)]
    assert left == [left[0], left[0] - 1, left[0] - 2]


def left_of(answer: httpx2.Response) -> int:
    found = re.search(r";r=(\d+);", answer.headers["RateLimit"])
    assert found
    return int(found[1])


@forged
def test_a_failure_to_sign_in_counts_at_the_address_that_is_true(front: Front, header: str) -> None:
    SignInFailures.objects.all().delete()
    with front.client() as client:
        page = client.get("/admin/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        assert token
        form = {"login": "nobody", "password": "wrong", "csrfmiddlewaretoken": token[1]}
        client.post("/admin/login/", data=form, headers={header: FORGED, "Referer": f"{front.url}/admin/login/"})
    kept = {bytes(key) for key in SignInFailures.objects.values_list("key", flat=True)}
    assert kept == {key_of("name", "nobody"), key_of("address", CLIENT)}


@forged
def test_the_address_that_is_true_is_logged(front: Front, header: str) -> None:
    with front.client() as client:
        request_id = client.get("/v2/ping", headers={header: FORGED}).headers["Request-Id"]
    lines = [json.loads(line) for line in front.log.read_text().splitlines() if request_id in line]
    assert {line["remote_address"] for line in lines if "remote_address" in line} == {CLIENT}


@behind_a_proxy
@pytest.mark.parametrize("header", ["X-Forwarded-Proto", "X_Forwarded_Proto"])
def test_clear_text_is_refused_whatever_a_header_says(front: Front, header: str) -> None:
    with front.client(front.clear_url) as client:
        answer = client.get("/v2/ping", headers={header: "https"})
        asked = client.post("/mcp", json={}, headers={header: "https"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "https_required")
    assert (asked.status_code, asked.json()["error"]["data"]["code"]) == (403, "https_required")


@behind_a_proxy
def test_pages_in_clear_text_are_sent_on_to_https(front: Front) -> None:
    with front.client(front.clear_url) as client:
        answer = client.get("/docs")
    assert (answer.status_code, answer.headers["Location"].partition(":")[0]) == (301, "https")


@behind_a_proxy
def test_a_body_that_is_too_long_does_not_get_through(front: Front) -> None:
    with front.client() as client:
        assert client.post("/v2/sources/", content=b" " * 200_000).status_code == 413


@behind_a_proxy
def test_a_file_of_evidence_gets_through(front: Front, api: Api, shop: NewMerchant) -> None:
    content = base64.b64encode(b"%PDF-1.7".ljust(1_500_000)).decode()
    path, key = f"/v2/disputes/{new_dispute(api)}/evidence", httpx2.BasicAuth(shop.keys["sk_test"], "")
    with front.client() as client:
        assert client.post(path, json={"type": "receipt", "file": content}, auth=key).status_code == 201


@behind_a_proxy
@pytest.mark.parametrize("site", ["/admin/", "/merchant/"])
def test_a_form_with_a_file_gets_through_to_each_site(front: Front, site: str) -> None:
    with front.client() as client:
        assert client.post(site, content=b" " * 200_000).status_code in (302, 403)


@behind_a_proxy
@pytest.mark.parametrize("path", ["/ready", "/ready/", "/re%61dy"])
def test_strangers_do_not_learn_why_a_process_cannot_serve(front: Front, path: str) -> None:
    with front.client() as client:
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("", "/v2/checkout_sessions/"),
        ("", "/checkout/"),
        ("", "/checkout/api/v2/sessions"),
        (PRODUCTS["checkout"], "/"),
    ],
)
def test_each_address_makes_a_session_and_shows_it(front: Front, shop: NewMerchant, host: str, path: str) -> None:
    headers = {"Host": host} if host else {}
    with front.client() as client:
        client.auth = httpx2.BasicAuth(shop.keys["sk_test"], "")
        made = client.post(path, json=ORDER, headers=headers)
        shown = client.get(f"{path.rstrip('/')}/{made.json()['id']}", headers={**headers, "Accept": "text/html"})
    assert (made.status_code, shown.json()) == (201, made.json())
    assert made.json()["payment_url"] == f"https://{PRODUCTS['checkout']}/{made.json()['id']}"


@pytest.mark.parametrize(("host", "root"), [("", "/checkout/"), (PRODUCTS["checkout"], "/")])
def test_a_browser_at_a_sessions_address_gets_the_payers_page(
    front: Front, shop: NewMerchant, host: str, root: str
) -> None:
    headers = {"Host": host} if host else {}
    with front.client() as client:
        session = client.post("/checkout/", json=ORDER, auth=httpx2.BasicAuth(shop.keys["sk_test"], "")).json()
        page = client.get(f"{root}{session['id']}", headers={**headers, "Accept": "text/html"})
    assert (page.status_code, "Halo-halo" in page.text) == (200, True)


@pytest.mark.parametrize(("host", "path"), [("", "/checkout/"), (PRODUCTS["checkout"], "/")])
def test_the_list_of_another_address_is_a_bare_array(front: Front, shop: NewMerchant, host: str, path: str) -> None:
    with front.client() as client:
        client.auth = httpx2.BasicAuth(shop.keys["sk_test"], "")
        ids = [client.post("/checkout/", json=ORDER).json()["id"] for _ in range(2)]
        listed = client.get(path, headers={"Host": host} if host else {}).json()
    assert [session["id"] for session in listed] == ids[::-1]


@behind_a_proxy
def test_a_name_that_a_program_has_written_into_it_is_led_to_our_own(front: Front, shop: NewMerchant) -> None:
    with front.client() as client:
        auth = httpx2.BasicAuth(shop.keys["sk_test"], "")
        made = client.post("/", json=ORDER, auth=auth, headers={"Host": "checkout.hosted.example"})
    assert made.json()["payment_url"].startswith(f"https://{PRODUCTS['checkout']}/cs_")


@pytest.mark.parametrize("path", ["/v2/me", "/docs", "/admin/login/", "/v2/checkout_sessions/"])
def test_a_host_of_one_product_serves_nothing_else(front: Front, shop: NewMerchant, path: str) -> None:
    auth = httpx2.BasicAuth(shop.keys["sk_test"], "")
    with front.client() as client:
        assert {client.get(path, auth=auth, headers={"Host": host}).status_code for host in PRODUCTS.values()} == {404}


@behind_a_proxy
def test_a_program_at_a_products_host_is_refused_in_clear_text(front: Front, shop: NewMerchant) -> None:
    auth = httpx2.BasicAuth(shop.keys["sk_test"], "")
    with front.client(front.clear_url) as client:
        answer = client.post("/", json=ORDER, auth=auth, headers={"Host": PRODUCTS["checkout"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "https_required")

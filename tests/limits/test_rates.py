"""Rate limits of keys and addresses, across processes, with and without Redis."""

import pytest
from django.conf import settings as django_settings
from django.test import RequestFactory
from pytest_django import Settings

from payments.api.access.throttling import client_address, counted_address, take
from payments.domain.merchants.merchants import NewMerchant
from payments.embedded.processes import wait_until
from payments.redis_client.rate_counters import Counters, counters_at
from tests.client import Api, error_of
from tests.factories import ApiKeyFactory
from tests.limits.test_rate_counters import AWAY
from tests.support.redis_process import RedisProcess

# Counted by the year: no window ends during a test.
YEAR_SECONDS = 360 * 86_400
OF_A_KEY, OF_AN_ADDRESS = '"default";q=300;w=1', '"default";q=30;w=1'


@pytest.mark.parametrize("url", [django_settings.REDIS_URL, AWAY], ids=["redis", "memory"])
def test_a_window_takes_its_quota_and_no_more(url: str, who: str) -> None:
    counters = Counters(url)
    results = [take(counters, "2/year", who) for _ in range(3)]
    assert [(result.used, result.allowed) for result in results] == [(1, True), (2, True), (3, False)]
    assert all(0 < result.reset_seconds <= YEAR_SECONDS for result in results)


def test_each_subject_has_its_own_rate(who: str) -> None:
    counters = Counters(django_settings.REDIS_URL)
    take(counters, "1/year", who)
    assert take(counters, "1/year", who + "x").allowed


def test_the_headers_have_the_rate_and_the_remaining_quota(who: str) -> None:
    headers = take(Counters(AWAY), "3 per 2 minutes", who).headers
    assert headers["RateLimit-Policy"] == '"default";q=3;w=120'
    assert headers["RateLimit"].startswith('"default";r=2;t=')


def test_every_answer_to_a_key_has_its_rate(api: Api, shop: NewMerchant, settings: Settings) -> None:
    settings.RATE_LIMIT, settings.RATE_LIMIT_ANONYMOUS = "300/second", "30/second"
    may_nothing = Api(ApiKeyFactory(merchant=shop.merchant, kind="restricted", rights=["events:read"]).text)
    browser = Api(shop.keys["pk_test"])
    responses = [
        api.get("/ping"),
        api.get("/charges/ch_1"),
        api.post("/charges/", {}),
        api.post("/charges/", b"{"),
        api.post("/me"),
        may_nothing.get("/me"),
        may_nothing.send("PATCH", "/me", None, {}),
    ]
    assert [response.status_code for response in responses] == [200, 404, 422, 400, 405, 403, 405]
    assert {response["RateLimit-Policy"] for response in responses} == {OF_A_KEY}
    assert browser.get("/me")["RateLimit-Policy"] == OF_AN_ADDRESS


def test_one_address_uses_up_a_publishable_key_for_itself_alone(shop: NewMerchant, settings: Settings) -> None:
    settings.RATE_LIMIT, settings.RATE_LIMIT_ANONYMOUS, settings.TRUSTED_PROXIES = "2/year", "2/year", 1
    browser = Api(shop.keys["pk_test"])
    assert [_asked_from(browser, "198.51.100.7") for _ in range(4)] == [404, 404, 429, 429]
    assert [_asked_from(browser, "2001:db8::1"), _asked_from(browser, "2001:db8::2")] == [404, 404]
    assert _asked_from(browser, "2001:db8::3") == 429
    assert _asked_from(browser, "198.51.100.8") == 404


def test_publishable_keys_of_one_address_do_not_share_a_rate(
    shop: NewMerchant, other_shop: NewMerchant, settings: Settings
) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "1/year"
    assert [_asked_from(Api(shop.keys["pk_test"])) for _ in range(2)] == [404, 429]
    assert _asked_from(Api(other_shop.keys["pk_test"])) == 404


def test_requests_without_a_key_do_not_use_a_publishable_keys_rate(shop: NewMerchant, settings: Settings) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "1/year"
    assert [Api("nobody's").get("/me").status_code for _ in range(2)] == [401, 429]
    assert _asked_from(Api(shop.keys["pk_test"])) == 404


def _asked_from(api: Api, address: str = "") -> int:
    """Return the status of a request with a publishable key through one of our proxies."""
    return api.send("GET", "/sources/src_1", None, {"X-Forwarded-For": address} if address else {}).status_code


def test_every_other_answer_has_the_rate_of_its_address(api: Api, settings: Settings) -> None:
    settings.KAHA_CLOCK, settings.RATE_LIMIT_ANONYMOUS = False, "30/second"
    responses = [
        Api("nobody's").get("/me"),
        api.get("/nothing"),
        api.post("/test/clock"),
        api.client.get("/v2/openapi.json"),
    ]
    assert [response.status_code for response in responses] == [401, 404, 404, 200]
    assert {response["RateLimit-Policy"] for response in responses} == {OF_AN_ADDRESS}


@pytest.mark.parametrize("path", ["/nothing", "/me", "/openapi.json"])
def test_anonymous_requests_are_limited(settings: Settings, who: str, path: str) -> None:
    settings.RATE_LIMIT_ANONYMOUS, settings.TRUSTED_PROXIES = "1/year", 1
    anonymous = Api("nobody's")
    for expected in (False, True):
        response = anonymous.send("GET", path, None, {"X-Forwarded-For": who})
        assert (response.status_code == 429) == expected
    assert 0 < int(response["Retry-After"]) <= YEAR_SECONDS


@pytest.mark.parametrize("rights", [None, ["events:read"]], ids=["publishable", "restricted"])
def test_refusals_of_a_key_are_limited_too(shop: NewMerchant, settings: Settings, rights: list[str] | None) -> None:
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = "2/year"
    kind = {"kind": "restricted", "rights": rights} if rights else {"kind": "publishable"}
    api = Api(ApiKeyFactory(merchant=shop.merchant, **kind).text)
    assert [api.get("/me").status_code for _ in range(3)] == [403, 403, 429]


def test_a_key_over_its_rate_gets_retry_after(api: Api, settings: Settings) -> None:
    settings.RATE_LIMIT = "2/year"
    assert [api.get("/ping").status_code for _ in range(2)] == [200, 200]
    response = api.post("/charges/", {})
    assert (response.status_code, error_of(response)["code"]) == (429, "rate_limited")
    assert 0 < int(response["Retry-After"]) <= YEAR_SECONDS
    assert response["RateLimit"] == f'"default";r=0;t={response["Retry-After"]}'


def test_another_key_has_its_own_rate(api: Api, shop: NewMerchant, settings: Settings) -> None:
    settings.RATE_LIMIT = "1/year"
    for _ in range(2):
        api.get("/ping")
    assert Api(shop.keys["sk_live"]).get("/ping").status_code == 200


def test_repeated_requests_without_a_valid_key_are_limited(api: Api, settings: Settings, who: str) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "2/year"
    settings.TRUSTED_PROXIES = 1
    anonymous = {"X-Forwarded-For": who}
    failed = [api.client.get("/v2/ping", headers=anonymous) for _ in range(3)]
    assert [response.status_code for response in failed] == [401, 401, 429]
    assert failed[1]["RateLimit-Policy"] == '"default";q=2;w=31104000'
    known = api.client.get("/v2/ping", headers=api.headers() | anonymous)
    assert known.status_code == 200


def test_a_key_has_its_rate_in_this_process_when_redis_stops_and_in_redis_when_it_comes_back(
    api: Api, settings: Settings, own_redis: RedisProcess
) -> None:
    settings.RATE_LIMIT, settings.REDIS_URL = "3/year", own_redis.url
    own_redis.start()
    assert _tries(api, 2) == [200, 200]
    own_redis.stop()
    assert _tries(api, 4) == [200, 200, 200, 429]
    own_redis.start()
    counters_at(own_redis.url).breaker.close()
    assert wait_until(lambda: _tries(api, 1) == [200], 10)
    assert _tries(api, 3) == [200, 200, 429]


def _tries(api: Api, count: int) -> list[int]:
    return [api.get("/ping").status_code for _ in range(count)]


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::9", "2001:db8:1:3::/64"),
        ("::1", "::/64"),
        ("sesame", "sesame"),
    ],
)
def test_an_ipv6_address_is_counted_by_its_network(address: str, counted: str) -> None:
    assert counted_address(RequestFactory().get("/", REMOTE_ADDR=address)) == counted


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "1.1.1.1", "9.9.9.9"),
        (1, "", "9.9.9.9"),
        (1, "1.1.1.1, 2.2.2.2", "2.2.2.2"),
        (2, "1.1.1.1, 2.2.2.2 ,3.3.3.3", "2.2.2.2"),
        (3, "2.2.2.2", "2.2.2.2"),
    ],
)
def test_only_trusted_proxies_name_a_requests_address(
    settings: Settings, proxies: int, forwarded: str, address: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR="9.9.9.9", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == address

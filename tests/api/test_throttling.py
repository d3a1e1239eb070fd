"""Rates hold for each key and each stranger, across processes, with Redis and without it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.test import RequestFactory
from pytest_django import Settings

from config.embedded import redis_server
from config.embedded.places import Places, drop_temporary_folder, make_running_folders, prepare
from config.embedded.processes import wait_until
from payments.api.throttling import Counters, client_address, take
from payments.domain.merchants import NewMerchant
from tests.client import Api, error_of

AWAY = "redis://127.0.0.1:1/0"


@pytest.fixture
def who() -> str:
    """Somebody whom nobody has counted yet."""
    return uuid4().hex


@pytest.mark.parametrize("url", [django_settings.REDIS_URL, AWAY], ids=["redis", "memory"])
def test_a_window_takes_its_quota_and_no_more(url: str, who: str) -> None:
    counters = Counters(url)
    verdicts = [take(counters, "2/day", who) for _ in range(3)]
    assert [(verdict.used, verdict.allowed) for verdict in verdicts] == [(1, True), (2, True), (3, False)]
    assert all(0 < verdict.reset_seconds <= 86_400 for verdict in verdicts)


def test_two_processes_count_together(who: str) -> None:
    first, second = Counters(django_settings.REDIS_URL), Counters(django_settings.REDIS_URL)
    take(first, "5/day", who)
    assert take(second, "5/day", who).used == 2


def test_everybody_has_a_rate_of_their_own(who: str) -> None:
    counters = Counters(django_settings.REDIS_URL)
    take(counters, "1/day", who)
    assert take(counters, "1/day", who + "x").allowed


def test_the_headers_tell_the_rate_and_what_is_left(who: str) -> None:
    headers = take(Counters(AWAY), "3 per 2 minutes", who).headers
    assert headers["RateLimit-Policy"] == '"default";q=3;w=120'
    assert headers["RateLimit"].startswith('"default";r=2;t=')


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator["OwnRedis"]:
    """A Redis of this test's own that does not run yet."""
    places = prepare(tmp_path)
    make_running_folders(places)
    server = OwnRedis(places)
    yield server
    server.stop()
    drop_temporary_folder(places)


class OwnRedis:
    """A Redis server that comes and goes."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.url = redis_server.url(places)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = redis_server.start(self.places)
        assert wait_until(lambda: redis_server.is_ready(self.places), 10)

    def stop(self) -> None:
        if self.process:
            redis_server.stop_server(self.process)
        self.process = None


def test_redis_counts_whenever_it_is_there(own_redis: OwnRedis, who: str) -> None:
    counters = Counters(own_redis.url, retry_seconds=0)
    assert [counters.increment(who, 60) for _ in range(3)] == [1, 2, 3]
    own_redis.start()
    assert [counters.increment(who, 60) for _ in range(2)] == [1, 2]
    own_redis.stop()
    assert counters.increment(who, 60) == 4


def test_a_redis_that_was_away_is_left_alone_for_a_while(own_redis: OwnRedis, who: str) -> None:
    counters = Counters(own_redis.url, retry_seconds=60)
    assert counters.increment(who, 60) == 1
    own_redis.start()
    assert counters.increment(who, 60) == 2


def test_every_answer_to_a_key_tells_its_rate(api: Api) -> None:
    responses = [api.get("/ping"), api.get("/charges/ch_1"), api.post("/charges/", {}), api.post("/me")]
    assert [response.status_code for response in responses] == [200, 404, 422, 405]
    assert all(response["RateLimit-Policy"] == '"default";q=300;w=1' for response in responses)


def test_a_key_beyond_its_rate_is_told_when_to_come_back(api: Api, settings: Settings) -> None:
    settings.RATE_LIMIT = "2/day"
    assert [api.get("/ping").status_code for _ in range(2)] == [200, 200]
    response = api.post("/charges/", {})
    assert (response.status_code, error_of(response)["code"]) == (429, "rate_limited")
    assert 0 < int(response["Retry-After"]) <= 86_400
    assert response["RateLimit"] == f'"default";r=0;t={response["Retry-After"]}'


def test_another_key_has_its_own_rate(api: Api, shop: NewMerchant, settings: Settings) -> None:
    settings.RATE_LIMIT = "1/day"
    for _ in range(2):
        api.get("/ping")
    assert Api(shop.keys["sk_live"]).get("/ping").status_code == 200


def test_who_keeps_coming_without_a_valid_key_is_slowed_down(api: Api, settings: Settings, who: str) -> None:
    settings.RATE_LIMIT_ANONYMOUS = "2/day"
    settings.TRUSTED_PROXIES = 1
    stranger = {"X-Forwarded-For": who}
    failed = [api.client.get("/v2/ping", headers=stranger) for _ in range(3)]
    assert [response.status_code for response in failed] == [401, 401, 429]
    assert failed[1]["RateLimit-Policy"] == '"default";q=2;w=86400'
    known = api.client.get("/v2/ping", headers=api.headers() | stranger)
    assert known.status_code == 200


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
def test_only_our_own_proxies_say_where_a_request_comes_from(
    settings: Settings, proxies: int, forwarded: str, address: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR="9.9.9.9", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == address

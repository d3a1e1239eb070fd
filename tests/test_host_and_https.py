"""The service answers under its own names only, programs over https only, and no cache keeps what it says."""

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from payments.models import Source
from tests.client import Api, made
from tests.contract.calls import CARD_SOURCE

ELSEWHERE = {"Host": "evil.example"}
PAGES = ["/docs", "/return/x", "/simulator/pay/x", "/admin/login/", "/v2/openapi.json", "/nowhere"]


@pytest.fixture
def encrypted(settings: Settings) -> None:
    """Set an https PUBLIC_URL."""
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 31_536_000


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_answered_under_another_name(path: str) -> None:
    assert Client(raise_request_exception=False).get(path, headers=ELSEWHERE).status_code == 400


@pytest.mark.parametrize("path", ["/ping", "/ping/"])
def test_a_health_check_may_use_any_host(path: str, encrypted: None) -> None:
    assert Client().get(path, headers=ELSEWHERE).status_code == 200


def test_what_came_in_clear_text_is_not_done(api: Api, encrypted: None) -> None:
    api.post("/sources/", CARD_SOURCE)
    assert not Source.objects.exists()


def test_over_https_an_answer_has_hsts(api: Api, encrypted: None) -> None:
    response = Client().get("/v2/ping", headers=api.headers(), secure=True)
    assert (response.status_code, response["Strict-Transport-Security"]) == (200, "max-age=31536000")


@pytest.mark.django_db
def test_a_browser_is_sent_on_to_https(encrypted: None) -> None:
    response = Client().get("/docs")
    assert (response.status_code, response["Location"]) == (301, "https://testserver/docs")


def test_no_cache_keeps_a_refusal(api: Api) -> None:
    assert api.get("/charges/ch_1")["Cache-Control"] == "no-store"


def test_what_is_for_everybody_may_be_kept(api: Api) -> None:
    response = api.get("/openapi.json")
    assert made(response)["openapi"] == "3.1.0"
    assert response["Cache-Control"] == "public, max-age=300"

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from payments.hosts import host_of, origin_on
from tests.client import Api
from tests.staff.sign_in import LOGIN

ADMIN, PUBLIC = "admin.pay.example.com", "pay.example.com"


@pytest.fixture(autouse=True)
def _two_hosts(settings: Settings) -> None:
    settings.ALLOWED_HOSTS, settings.ADMIN_HOST = [ADMIN, PUBLIC], ADMIN


def get(path: str, host: str) -> int:
    return Client(headers={"Host": host}).get(path).status_code


@pytest.mark.parametrize("host", [ADMIN, ADMIN.upper(), f"{ADMIN}:8443", f"{ADMIN}."])
def test_the_admin_is_on_its_host(host: str, db: None) -> None:
    assert get(LOGIN, host) == 200


@pytest.mark.parametrize(
    "path", ["/", "/admin", "/ping", "/docs", "/v2/ping", "/v2/openapi.json", "/return/x", "/simulator/pay/x"]
)
def test_nothing_else_is_there(path: str, db: None) -> None:
    assert get(path, ADMIN) == 404


@pytest.mark.parametrize("path", ["/admin/", LOGIN, "/admin/enrol/passkey/", "/admin/payments/charge/"])
def test_elsewhere_is_no_admin(path: str, ana: User) -> None:
    signed_in = Client(headers={"Host": PUBLIC, "Accept": "text/html"})
    signed_in.force_login(ana)
    answer, unknown = signed_in.get(path), signed_in.get("/no-such-path/")
    assert answer.status_code == 404
    assert answer.content == unknown.content


@pytest.mark.long
def test_what_is_elsewhere_stays_there(api: Api) -> None:
    assert get("/ping", PUBLIC) == 200
    assert get("/docs", PUBLIC) == 200


def test_an_unknown_path_of_the_api_there_is_404_as_anywhere(db: None) -> None:
    answer = Client(headers={"Host": ADMIN}).get("/v2/charges/")
    assert answer.json()["error"]["type"] == "not_found_error"


def test_a_host_that_is_not_ours_is_refused(db: None) -> None:
    assert get(LOGIN, "evil.example") == 400


def test_a_health_check_uses_the_address_of_the_process(db: None) -> None:
    assert get("/ping", "10.0.0.7:8000") == 200


def test_without_the_setting_all_is_on_one_host(settings: Settings, db: None) -> None:
    settings.ADMIN_HOST = ""
    assert (get(LOGIN, PUBLIC), get("/ping", PUBLIC)) == (200, 200)


@pytest.mark.parametrize(
    ("host", "url", "origin"),
    [
        ("", "https://pay.example.com:8443", "https://pay.example.com:8443"),
        (ADMIN, "https://pay.example.com", f"https://{ADMIN}"),
        (ADMIN, "https://pay.example.com:8443", f"https://{ADMIN}:8443"),
        (ADMIN, "https://[::1]:8443", f"https://{ADMIN}:8443"),
        (ADMIN, "https://[", f"https://{ADMIN}"),
        ("", "nonsense", "nonsense"),
    ],
)
def test_the_origin_of_the_admin_is_that_of_all_but_for_the_host(host: str, url: str, origin: str) -> None:
    assert origin_on(host, url) == origin


@pytest.mark.parametrize(("origin", "host"), [(f"https://{ADMIN}:8443", ADMIN), ("nonsense", ""), ("https://[", "")])
def test_the_host_of_an_origin(origin: str, host: str) -> None:
    assert host_of(origin) == host

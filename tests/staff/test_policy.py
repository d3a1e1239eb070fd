"""Headers and cookies for browsers, in a process of its own with production settings and https."""

import json

import pytest
from django.test import Client

from tests.admin.conftest import text_of
from tests.client import Api
from tests.pages.conftest import shop_site  # noqa: F401
from tests.pages.waiting_charges import awaited
from tests.staff.sign_in import LOGIN
from tests.test_checks import python

pytestmark = pytest.mark.long

ASK = """
import json, django
django.setup()
from django.conf import settings
from django.test import Client
answer = Client(headers={"Host": "pay.example.com"}).get("/admin/login/", secure=True)
cookies = {name: {k: v for k, v in morsel.items() if v} for name, morsel in answer.cookies.items()}
names = [name for name in dir(settings) if name.startswith(("SESSION_COOKIE", "CSRF_COOKIE", "PASSKEY", "ADMIN"))]
names += ["CSRF_TRUSTED_ORIGINS"]
values = {name: getattr(settings, name) for name in names}
print(json.dumps({"headers": dict(answer.headers), "cookies": cookies, "settings": values}))
"""


def production(**environment: str) -> dict[str, dict]:
    """Return what a page is answered, and the settings."""
    done = python("-c", ASK, DJANGO_SETTINGS_MODULE="config.settings", **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answered() -> dict[str, dict]:
    return production()


def test_browsers_come_by_https_for_a_year(answered: dict[str, dict]) -> None:
    assert answered["headers"]["Strict-Transport-Security"] == "max-age=31536000"


def test_no_page_is_framed(answered: dict[str, dict]) -> None:
    assert answered["headers"]["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answered["headers"]["Content-Security-Policy"]


def test_nothing_inline_runs_or_styles(answered: dict[str, dict]) -> None:
    policy = answered["headers"]["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy.split("; ")


@pytest.mark.parametrize("name", ["sessionid", "csrftoken"])
def test_cookies_are_of_this_host_alone_and_read_by_no_script(name: str, answered: dict[str, dict]) -> None:
    prefix = name.removesuffix("id").removesuffix("token").upper()
    cookie = {key.removeprefix(f"{prefix}_COOKIE_"): value for key, value in answered["settings"].items()}
    assert cookie["NAME"] == f"__Host-{name}"
    assert (cookie["SECURE"], cookie["HTTPONLY"], cookie["SAMESITE"]) == (True, True, "Lax")
    assert (cookie["PATH"], cookie["DOMAIN"]) == ("/", None)


def test_the_cookie_is_set_so(answered: dict[str, dict]) -> None:
    [(name, flags)] = answered["cookies"].items()
    assert name == "__Host-csrftoken"
    assert (flags["secure"], flags["httponly"], flags["samesite"], flags["path"]) == (True, True, "Lax", "/")
    assert "domain" not in flags


def test_second_factors_are_asked_for_unless_it_is_said_otherwise(answered: dict[str, dict]) -> None:
    assert answered["settings"]["ADMIN_MFA"] is True
    assert production(ADMIN_MFA="false")["settings"]["ADMIN_MFA"] is False


def test_passkeys_are_bound_to_where_the_admin_is(answered: dict[str, dict]) -> None:
    assert answered["settings"]["ADMIN_PASSKEY_HOST"] == "pay.example.com"


def test_on_a_host_of_its_own_everything_of_the_admin_is_bound_to_that() -> None:
    hosts = {"ADMIN_HOST": "admin.example.com", "ALLOWED_HOSTS": "pay.example.com,admin.example.com"}
    done = production(**hosts)["settings"]
    assert done["ADMIN_PASSKEY_HOST"] == "admin.example.com"
    assert done["CSRF_TRUSTED_ORIGINS"] == ["https://admin.example.com", "https://pay.example.com"]


def test_a_form_from_elsewhere_is_refused(db: None) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(LOGIN, {"login": "ana", "password": "x"}).status_code == 403


def test_a_page_for_payers_runs_nothing(api: Api, shop_site: dict[str, str], client: Client) -> None:  # noqa: F811
    address = awaited(api, "gcash", shop_site)["action"]["url"]
    answer = client.get("/" + address.split("/", 3)[3])
    text_of(answer)
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy


def test_a_page_that_is_not_there_has_a_policy_too(db: None, client: Client) -> None:
    answer = client.get("/no-such-page/")
    assert (answer.status_code, "default-src 'none'" in answer["Content-Security-Policy"]) == (404, True)


def test_the_api_is_not_burdened_with_it(api: Api) -> None:
    assert "Content-Security-Policy" not in api.get("/ping")

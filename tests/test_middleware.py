"""What surrounds every request, and what the API has none of."""

import pytest
from django.conf import settings
from django.core import checks
from django.utils.module_loading import import_string

from payments import ids
from tests.client import Api

pytestmark = pytest.mark.django_db
# The shortcut has its own of these.
FOR_ALL = ("payments.web.hosts.HostAndHttps", "payments.web.hosts.SiteHosts")


def test_every_request_has_an_id_of_its_own(api: Api) -> None:
    first, second = (api.get("/ping")["Request-Id"] for _ in range(2))
    assert ids.parse_id("req", first)
    assert first != second


@pytest.mark.parametrize("path", ["/v2/ping", "/v2/nowhere"])
def test_the_api_has_no_sessions(api: Api, path: str) -> None:
    request = api.client.get(path, headers=api.headers()).wsgi_request
    assert not hasattr(request, "session")


def test_a_call_of_the_api_passes_no_middleware_of_pages(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = settings.MIDDLEWARE[settings.MIDDLEWARE.index("config.http.api_shortcut.ApiShortcut") + 1 :]
    for_pages = [path for path in listed if path not in FOR_ALL]

    def fail(*_: object) -> None:
        pytest.fail("it was passed")

    for path in for_pages:
        monkeypatch.setattr(import_string(path), "__call__", fail)
    assert [api.get(path).status_code for path in ("/ping", "/nowhere")] == [200, 404]
    with pytest.raises(pytest.fail.Exception):
        api.client.get("/admin/login/")


def test_an_answer_of_the_api_is_framed_nowhere(api: Api) -> None:
    assert api.get("/ping")["X-Frame-Options"] == "DENY"


def test_the_pages_have_sessions(api: Api) -> None:
    assert hasattr(api.client.get("/admin/login/").wsgi_request, "session")


def test_django_finds_nothing_missing_in_the_middleware() -> None:
    assert [message for message in checks.run_checks() if message.id.startswith("admin.E")] == []

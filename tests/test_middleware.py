"""What surrounds every request, and what the API has none of."""

import pytest
from django.core import checks

from payments import ids
from tests.client import Api

pytestmark = pytest.mark.django_db


def test_every_request_has_an_id_of_its_own(api: Api) -> None:
    first, second = (api.get("/ping")["Request-Id"] for _ in range(2))
    assert ids.parse_id("req", first)
    assert first != second


@pytest.mark.parametrize("path", ["/v2/ping", "/v2/nowhere"])
def test_the_api_has_no_sessions(api: Api, path: str) -> None:
    request = api.client.get(path, headers=api.headers()).wsgi_request
    assert not hasattr(request, "session")


def test_the_pages_have_sessions(api: Api) -> None:
    assert hasattr(api.client.get("/admin/login/").wsgi_request, "session")


def test_django_finds_nothing_missing_in_the_middleware() -> None:
    assert [message for message in checks.run_checks() if message.id.startswith("admin.E")] == []

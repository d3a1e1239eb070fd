"""A file sent to a page is refused before a byte of it is on the disk."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from tests.simulator.factories import by_type, page_path

# So large that Django would write it to the disk.
LARGE = SimpleUploadedFile("large.bin", bytes(3 * 1024 * 1024))
TOKEN = "a" * 32


def send(path: str, **fields: str) -> HttpResponse:
    """Return a form with a file, from somebody who is not signed in and has seen how a form is sent."""
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.cookies["csrftoken"] = TOKEN
    LARGE.seek(0)
    return client.post(path, fields | {"csrfmiddlewaretoken": TOKEN, "file": LARGE})


@pytest.fixture(autouse=True)
def disk(settings: Settings, tmp_path: Path) -> Path:
    """Where files that are sent to Django lie; to make one there fails."""
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path / "not there")
    return tmp_path


@pytest.mark.django_db
def test_the_sign_in_page_takes_no_file() -> None:
    assert send("/admin/login/", login="admin", password="x").status_code == 400


@pytest.mark.django_db
def test_a_payer_sends_no_file() -> None:
    assert send(page_path(by_type("gcash")), decision="pay").status_code == 400

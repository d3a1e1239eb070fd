"""The body of an uploaded file is read only for an operator who may upload."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from payments.domain.reconciliation.uploads import MAX_BYTES
from payments.models import ReportUpload
from tests.admin.conftest import the_operator
from tests.web.clients import ask, length
from tests.web.conftest import Serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
HEAD = "reference,simulator_reference,type,amount,currency,booked_at\n"
LINE = "{0},sp_{0},capture,100.00,PHP,2026-11-21T13:30:59.123456+0000\n"


def form(client: Client, content: bytes) -> bytes:
    """Return the body of the upload form, with its token."""
    token = client.get(reverse("admin:payments_reportupload_upload")).context["csrf_token"]
    fields = {"csrfmiddlewaretoken": str(token), "provider": "simulator", "since": "", "until": ""}
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    ]
    head = (
        '--x\r\nContent-Disposition: form-data; name="report"; filename="report.csv"\r\nContent-Type: text/csv\r\n\r\n'
    )
    return "".join([*parts, head]).encode() + content + b"\r\n--x--\r\n"


def post(port: int, client: Client, body: bytes) -> int:
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    path = reverse("admin:payments_reportupload_upload")
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
        f"Content-Type: multipart/form-data; boundary=x\r\nCookie: {cookies}\r\n"
    )
    return ask(port, head.encode() + length(body) + b"\r\n" + body)[0].status


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(the_operator())
    return client


@pytest.fixture
def large() -> bytes:
    """Return a report that is far larger than any other form."""
    return (HEAD + "".join(LINE.format(uuid.uuid4().hex) for _ in range(5_000))).encode()


def test_an_operator_uploads_a_file_that_is_larger_than_any_form(serve: Serve, client: Client, large: bytes) -> None:
    port = serve()
    assert post(port, client, form(client, large)) == 302
    assert ReportUpload.objects.get().rows == 5_001


def test_strangers_and_viewers_send_no_file(serve: Serve, client: Client, large: bytes) -> None:
    port, body = serve(), form(client, large)
    viewer = Client()
    viewer.force_login(User.objects.create(username="viewer", is_staff=True))
    assert post(port, Client(), body) in (302, 403)
    assert post(port, viewer, body) == 403
    assert not ReportUpload.objects.exists()


def test_a_file_that_is_too_large_is_answered_without_being_read(serve: Serve, client: Client) -> None:
    port = serve()
    path = reverse("admin:payments_reportupload_upload")
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        f"Cookie: {cookies}\r\nContent-Length: {MAX_BYTES * 2}\r\n\r\n"
    )
    response, content = ask(port, head.encode())
    assert response.status == 413
    assert b"manage.py reconcile" in content

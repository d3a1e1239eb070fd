"""The body of a form with a file is read only for an operator who may send it."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from payments.domain.merchants.merchants import NewMerchant
from payments.domain.reconciliation.uploads import MAX_BYTES
from payments.merchant_site import form_owner
from payments.models import Dispute, Evidence, ReportUpload
from payments.models.charging.evidence import SIZE_MAX
from tests.admin.actions import address_of
from tests.admin.conftest import the_operator
from tests.client import Api, signed_in
from tests.contract.calls import new_dispute
from tests.merchant_site.conftest import member
from tests.operators.factories import person
from tests.web.clients import ask, length, open_sockets

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
HEAD = "reference,simulator_reference,type,amount,currency,booked_at\n"
LINE = "{0},sp_{0},capture,100.00,PHP,2026-11-21T13:30:59.123456+0000\n"


def form(client: Client, content: bytes) -> bytes:
    """Return the body of the upload form, with its token."""
    fields = {"provider": "simulator", "since": "", "until": ""}
    return form_at(client, reverse("admin:payments_reportupload_upload"), fields, "report", content)


def form_at(client: Client, path: str, values: dict[str, str], field: str, content: bytes) -> bytes:
    """Return the body of the form at `path` with a file, and its token."""
    shown = client.get(path).context
    fields = {"csrfmiddlewaretoken": str(shown["csrf_token"]), **values}
    if path.startswith("/merchant/"):
        fields[form_owner.NAME] = shown["merchant"].pk.hex
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    ]
    head = f'--x\r\nContent-Disposition: form-data; name="{field}"; filename="report.csv"\r\n\r\n'
    return "".join([*parts, head]).encode() + content + b"\r\n--x--\r\n"


def post(port: int, client: Client, body: bytes, path: str = "") -> int:
    return ask(port, head_of(port, client, path) + length(body) + b"\r\n" + body)[0].status


def head_of(port: int, client: Client, path: str = "") -> bytes:
    """Return the head of a form without its length; to the upload's page, unless a path is given."""
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    return (
        f"POST {path or reverse('admin:payments_reportupload_upload')} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Origin: http://127.0.0.1:{port}\r\nContent-Type: multipart/form-data; boundary=x\r\nCookie: {cookies}\r\n"
    ).encode()


@pytest.fixture
def client() -> Client:
    return signed_in(the_operator())


@pytest.fixture
def large() -> bytes:
    """Return a report that is far larger than any other form."""
    return (HEAD + "".join(LINE.format(uuid.uuid4().hex) for _ in range(5_000))).encode()


def test_an_operator_uploads_a_file_that_is_larger_than_any_form(port: int, client: Client, large: bytes) -> None:
    assert post(port, client, form(client, large)) == 302
    assert ReportUpload.objects.get().rows == 5_000


def test_strangers_and_viewers_send_no_file(port: int, client: Client, large: bytes) -> None:
    body = form(client, large)
    viewer = signed_in(User.objects.create(username="viewer", is_staff=True))
    assert post(port, Client(), body) in (302, 403)
    assert post(port, viewer, body) == 403
    assert not ReportUpload.objects.exists()


def test_a_file_that_is_too_large_is_answered_without_being_read(port: int, client: Client) -> None:
    head = head_of(port, client) + f"Content-Length: {MAX_BYTES * 2}\r\n\r\n".encode()
    response, content = ask(port, head)
    assert response.status == 413
    assert b"manage.py reconcile" in content


@pytest.fixture
def evidence_page(api: Api) -> str:
    """Return the path of the form by which operators add evidence to a dispute."""
    new_dispute(api)
    return address_of(Dispute.objects.get(), "add_evidence")


FILE = b"%PDF-1.7".ljust(1_500_000)
SAID = {"type": "receipt", "text": "", "reason": "Ticket 4711"}


def test_an_operator_adds_a_large_file_as_evidence(port: int, client: Client, evidence_page: str) -> None:
    body = form_at(client, evidence_page, SAID, "file", FILE)
    assert post(port, client, body, evidence_page) == 302
    assert Evidence.objects.get().size == len(FILE)


def test_a_merchants_person_adds_a_large_file_as_evidence(port: int, shop: NewMerchant, evidence_page: str) -> None:
    page, owner = evidence_page.replace("/admin/", "/merchant/"), signed_in(member(shop.merchant))
    said = {"type": "receipt", "text": ""}
    assert post(port, owner, form_at(owner, page, said | {"reason": "x"}, "file", FILE), page) == 302
    assert Evidence.objects.get().size == len(FILE)


def test_no_person_of_another_merchant_or_without_the_right_has_a_byte_of_a_file_read(
    port: int, shop: NewMerchant, other_shop: NewMerchant, evidence_page: str
) -> None:
    page = evidence_page.replace("/admin/", "/merchant/")
    developer, other = signed_in(member(shop.merchant, "developer")), signed_in(member(other_shop.merchant))
    head = head_of(port, developer, page) + length(FILE) + b"\r\n"
    assert ask(port, head)[0].status == 403
    assert post(port, other, b"--x\r\n" + FILE, page) in (403, 404)
    assert not Evidence.objects.exists()


def test_the_people_of_one_merchant_hold_one_place_for_a_file(
    port: int, client: Client, shop: NewMerchant, evidence_page: str
) -> None:
    page = evidence_page.replace("/admin/", "/merchant/")
    people = [signed_in(member(shop.merchant, "support", name)) for name in ("ana", "ben", "cris")]
    slow = [head_of(port, each, page) + length(FILE) + b"\r\n" + FILE[:1_000] for each in people[:2]]
    said = SAID | {"reason": "x"}
    with open_sockets(port, 3, slow[0]), open_sockets(port, 3, slow[1]):
        assert post(port, people[2], form_at(people[2], page, said, "file", FILE), page) == 503
        # Operators' files have places of their own.
        assert post(port, client, form_at(client, evidence_page, SAID, "file", FILE), evidence_page) == 302


def test_who_may_not_add_evidence_has_no_byte_of_it_read(port: int, client: Client, evidence_page: str) -> None:
    viewer = Client()
    viewer.force_login(User.objects.create(username="viewer", is_staff=True))
    for sender, status in ((Client(), 302), (viewer, 403)):
        head = head_of(port, sender, evidence_page) + length(FILE) + b"\r\n"
        assert ask(port, head)[0].status == status


def test_a_file_of_evidence_that_is_too_large_is_refused_with_its_limit(
    port: int, client: Client, evidence_page: str
) -> None:
    head = head_of(port, client, evidence_page) + f"Content-Length: {SIZE_MAX * 2}\r\n\r\n".encode()
    response, content = ask(port, head)
    assert response.status == 413
    assert b"The file is larger than 2.0" in content


def test_an_operators_slow_file_leaves_room_for_others(port: int, client: Client, evidence_page: str) -> None:
    other = Client()
    other.force_login(person("ben", "support"))
    slow = head_of(port, client, evidence_page) + length(FILE) + b"\r\n" + FILE[:1_000]
    with open_sockets(port, 5, slow):
        assert post(port, other, form_at(other, evidence_page, SAID, "file", FILE), evidence_page) == 302

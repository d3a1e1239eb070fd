"""Evidence is longer than other bodies of the API: it is read only for a key that may send it, one at a time."""

import base64
import json

import pytest

from payments.domain.merchants.merchants import NewMerchant
from payments.models import Evidence
from tests.client import Api
from tests.contract.calls import new_dispute
from tests.factories import ApiKeyFactory
from tests.web.clients import head, length, open_sockets, status_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
FILE = {"type": "receipt", "file": base64.b64encode(b"%PDF-1.7".ljust(1_500_000)).decode()}
BODY = json.dumps(FILE).encode()


def sent(path: str, key: str, body: bytes = BODY) -> bytes:
    """Return the request that sends the file."""
    return head(f"POST {path}", length(BODY), key=key) + body


@pytest.fixture
def path(api: Api) -> str:
    return f"/v2/disputes/{new_dispute(api)}/evidence"


def test_a_file_of_a_megabyte_is_taken_and_sealed(port: int, shop: NewMerchant, path: str) -> None:
    assert status_of(port, sent(path, shop.keys["sk_test"])) == 201
    assert Evidence.objects.get().size == 1_500_000


def test_a_key_without_the_right_has_no_file_read(port: int, shop: NewMerchant, path: str) -> None:
    reader = ApiKeyFactory(merchant=shop.merchant, kind="restricted", rights=["charges:read"]).text
    for key, status in (("", 401), ("sk_test_" + "0" * 32, 401), (shop.keys["pk_test"], 403), (reader, 403)):
        # None of its bytes follow: it is refused by its head alone.
        assert status_of(port, sent(path, key, b"")) == status


def test_another_path_takes_no_file(port: int, shop: NewMerchant) -> None:
    assert status_of(port, sent("/v2/charges/", shop.keys["sk_test"], b"")) == 413


def test_one_merchants_slow_files_keep_no_place_from_another(
    port: int, shop: NewMerchant, other_shop: NewMerchant, path: str
) -> None:
    other_key = other_shop.keys["sk_test"]
    other_path = f"/v2/disputes/{new_dispute(Api(other_key))}/evidence"
    with open_sockets(port, 10, sent(path, shop.keys["sk_test"], BODY[:1_000])):
        assert status_of(port, sent(other_path, other_key)) == 201

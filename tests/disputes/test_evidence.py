"""Disputes as merchants read them: evidence that is taken, kept and shown."""

import base64
import json
from datetime import timedelta
from pathlib import Path

import pytest
from rest_framework.exceptions import ValidationError

from payments import clock
from payments.api.validation.evidence import EvidenceInput
from payments.domain.disputes import evidence
from payments.domain.maintenance.retention import delete_old_rows
from payments.domain.merchants.merchants import NewMerchant
from payments.models import Dispute, Evidence
from payments.providers.disputes import EvidenceType
from tests.client import Api, error_of, made
from tests.concurrency import at_once
from tests.contract.calls import nobodys
from tests.disputes.stories import AT_ONCE, INQUIRY, dispute_on, disputed
from tests.factories import ApiKeyFactory

CASES = Path(__file__).parent.parent / "cases"
PDF = base64.b64encode(b"%PDF-1.7 a receipt").decode()


def test_a_piece_of_evidence_is_shown_without_its_content(api: Api) -> None:
    path = dispute_on(api)
    piece = made(api.post(f"{path}/evidence", {"type": "receipt", "file": PDF}))
    assert (piece["type"], piece["content_type"], piece["size"]) == ("receipt", "application/pdf", 18)
    assert made(api.get(f"{path}/evidence"))["data"] == [piece]


def test_a_further_piece_of_a_type_replaces_the_one_before(api: Api) -> None:
    path = dispute_on(api)
    for text in ("first", "second one"):
        made(api.post(f"{path}/evidence", {"type": "other", "text": text}))
    assert [piece["size"] for piece in made(api.get(f"{path}/evidence"))["data"]] == [len("second one")]


def test_the_content_of_evidence_is_sealed(api: Api) -> None:
    made(api.post(f"{dispute_on(api)}/evidence", {"type": "other", "text": "Delivered to Juan"}))
    assert b"Juan" not in bytes(Evidence.objects.get().sealed_content)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"type": "receipt"}, "missing"),
        ({"type": "receipt", "text": "a", "file": PDF}, "not_allowed"),
        ({"type": "poem", "text": "a"}, "invalid_choice"),
        ({"type": "receipt", "file": "not base64!"}, "pattern"),
        ({"type": "receipt", "file": base64.b64encode(b"GIF89a").decode()}, "invalid_file"),
        ({"type": "receipt", "text": "4242424242424242"}, "card_data"),
    ],
)
def test_evidence_that_cannot_be_used_is_refused(api: Api, body: dict[str, str], code: str) -> None:
    error = error_of(api.post(f"{dispute_on(api)}/evidence", body))
    assert error["code"] == code
    assert not Evidence.objects.exists()


def test_evidence_of_blanks_is_refused(api: Api) -> None:
    case = json.loads((CASES / "evidence.json").read_text())
    answer = api.post(f"{dispute_on(api)}/evidence", case["body"])
    assert f"{answer.status_code} on {error_of(answer)['param']}" == case["expected"]


@pytest.mark.parametrize("text", [" ", "\n\t\r", "\xa0\u2003", "\u200b\ufeff", "\u2800", "\x1c\x01\x85", " \u3164 "])
def test_no_text_that_nobody_can_read_is_evidence(text: str) -> None:
    with pytest.raises(ValidationError) as refused:
        EvidenceInput().run_validation({"type": "other", "text": text})
    assert refused.value.get_codes() == {"text": ["pattern"]}


@pytest.mark.parametrize("text", ["x", " \n x \n ", "é", "日本", "\u200bx", "?"])
def test_a_text_with_anything_to_read_is_evidence(text: str) -> None:
    assert EvidenceInput().run_validation({"type": "other", "text": text})["text"] == text


def test_a_merchant_sends_so_much_evidence_in_a_day_and_no_more(
    api: Api, monkeypatch: pytest.MonkeyPatch, other_shop: NewMerchant
) -> None:
    monkeypatch.setitem(evidence.BYTES_A_DAY, False, 10)
    path, other_api = dispute_on(api), Api(other_shop.keys["sk_test"])
    assert error_of(api.post(f"{path}/evidence", {"type": "other", "text": "a" * 11}))["code"] == (
        "evidence_limit_reached"
    )
    made(other_api.post(f"{dispute_on(other_api)}/evidence", {"type": "other", "text": "a" * 10}))


def test_what_replaces_earlier_evidence_counts_too(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(evidence.BYTES_A_DAY, False, 25)
    path, piece = f"{dispute_on(api)}/evidence", {"type": "other", "text": "a" * 10}
    first = made(api.post(path, piece, key="first"))
    made(api.post(path, piece))
    assert error_of(api.post(path, piece))["code"] == "evidence_limit_reached"
    # It was answered before, and sends nothing.
    assert made(api.post(path, piece, key="first")) == first
    with clock.at(clock.now() + timedelta(days=1)):
        made(api.post(path, piece))


@pytest.mark.django_db(transaction=True)
def test_pieces_sent_at_once_do_not_exceed_the_limit_of_a_day(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(evidence.BYTES_A_DAY, False, 25)
    path, types = f"{dispute_on(api)}/evidence", list(EvidenceType)
    answers = at_once(4, lambda number: api.post(path, {"type": types[number], "text": "a" * 10}))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 409, 409]


@pytest.mark.parametrize(("livemode", "days"), [(True, 540), (False, 30)])
def test_evidence_is_deleted_after_the_days_that_its_mode_promises(api: Api, livemode: bool, days: int) -> None:
    made(api.post(f"{dispute_on(api)}/evidence", {"type": "other", "text": "Delivered"}))
    Evidence.objects.update(livemode=livemode)
    over = Evidence.objects.get().created_at + timedelta(days=days)
    with clock.at(over - timedelta(hours=1)):
        delete_old_rows()
    assert Evidence.objects.exists()
    with clock.at(over + timedelta(seconds=1)):
        delete_old_rows()
    assert not Evidence.objects.exists()


def test_a_dispute_is_shown_with_everything_that_is_known_of_it(api: Api) -> None:
    charge = disputed(api, AT_ONCE)
    [dispute] = made(api.get("/disputes/"))["data"]
    assert made(api.get(f"/disputes/{dispute['id']}")) == dispute
    assert {
        name: dispute[name] for name in ("object", "amount", "charge", "currency", "reason", "status", "withdrawn")
    } == {
        "object": "dispute",
        "amount": 10_000,
        "charge": charge["id"],
        "currency": "PHP",
        "reason": "fraudulent",
        "status": "needs_response",
        "withdrawn": True,
    }


def test_disputes_are_filtered_by_status_and_charge_and_paged(api: Api) -> None:
    first, second = disputed(api, AT_ONCE), disputed(api, INQUIRY)
    warned = made(api.get("/disputes/", status="warning"))["data"]
    assert [each["charge"] for each in warned] == [second["id"]]
    assert [each["charge"] for each in made(api.get("/disputes/", charge=first["id"]))["data"]] == [first["id"]]
    page = made(api.get("/disputes/", limit=1))
    assert page["data"][0]["charge"] == second["id"]
    following = made(api.get(page["next"].removeprefix("/v2")))
    assert [each["charge"] for each in following["data"]] == [first["id"]]


def test_a_status_that_there_is_not_and_a_charge_of_nobody_are_refused(api: Api) -> None:
    for query in ({"status": "lost_forever"}, {"charge": nobodys("ch")}):
        assert api.get("/disputes/", **query).status_code == 422


def test_a_dispute_of_another_merchant_does_not_exist(api: Api, shop: NewMerchant) -> None:
    disputed(api, AT_ONCE)
    elsewhere = Api(ApiKeyFactory().text)
    assert made(elsewhere.get("/disputes/"))["data"] == []
    assert error_of(elsewhere.get(f"/disputes/{Dispute.objects.get()}"))["code"] == "resource_missing"

"""Disputes in the back office: by deadline, in the inbox, on the page of their charge, and operators' responses."""

import base64
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from payments import clock
from payments.domain.disputes import evidence, respond
from payments.domain.merchants.merchants import NewMerchant
from payments.ids import parse_id
from payments.inbox import rows
from payments.models import ApprovalLimit, AuditEntry, Charge, Dispute, Evidence
from payments.models.charging.evidence import SIZE_MAX
from tests.admin.actions import act, address_of
from tests.admin.conftest import House, text_of, the_operator, words_of
from tests.admin.test_overview import pesos
from tests.admin.test_pages import list_of, page_of
from tests.client import Api, made
from tests.disputes.stories import AT_ONCE, disputed, make_dispute
from tests.operators.factories import person
from tests.overview.test_dispute_rates import THIS_MONTH, made_charges, make_disputes

pytestmark = pytest.mark.long


@pytest.fixture
def dispute(api: Api) -> Dispute:
    disputed(api, AT_ONCE)
    return Dispute.objects.get()


@pytest.fixture
def finance(db: None) -> Client:
    client = Client()
    client.force_login(person("ben", "finance"))
    return client


def test_an_operator_adds_evidence_and_submits_it(dispute: Dispute, operator: Client) -> None:
    act(operator, dispute, "add_evidence", type="receipt", text="Signed for by Juan")
    assert act(operator, dispute, "submit_evidence").status_code == 302
    respond.send_due()
    dispute.refresh_from_db()
    assert (dispute.status, dispute.response_state) == ("under_review", "sent")
    entries = AuditEntry.objects.filter(action="responded").order_by("id")
    assert [entry.detail for entry in entries] == ["Add evidence: receipt", "Submit the evidence"]
    assert not any("Juan" in str(entry.__dict__) for entry in entries)


def test_the_page_says_what_the_reason_needs_what_is_there_and_what_is_won_or_lost(
    dispute: Dispute, operator: Client
) -> None:
    Dispute.objects.update(reason="product_not_received")
    before = words_of(operator.get(page_of(dispute)))
    assert "What this dispute needs 0 of 4 ready Shipping documentation" in before
    assert f"If won +{pesos(dispute.amount)} The bank gives it back. If lost −{pesos(dispute.amount)}" in before
    form = operator.get(address_of(dispute, "add_evidence"), {"type": "customer_signature"})
    assert 'value="customer_signature" selected' in text_of(form)
    act(operator, dispute, "add_evidence", type="customer_signature", text="Signed by Juan")
    after = words_of(operator.get(page_of(dispute)))
    assert ("1 of 4 ready" in after, f"bank disputed {pesos(dispute.amount)}" in after) == (True, True)


def test_a_dispute_is_under_review_at_once_after_the_answer(dispute: Dispute, operator: Client) -> None:
    act(operator, dispute, "add_evidence", type="receipt", text="Signed for by Juan", submit="on")
    page = words_of(operator.get(page_of(dispute)))
    assert ("Under review" in page, "Answer by" in page, "What this dispute needs" in page) == (True, False, False)


def test_the_last_piece_is_submitted_with_those_before(dispute: Dispute, operator: Client) -> None:
    act(operator, dispute, "add_evidence", type="receipt", text="Signed for by Juan")
    act(operator, dispute, "add_evidence", type="service_documentation", text="Delivered on Monday", submit="on")
    dispute.refresh_from_db()
    assert (dispute.response_state, dispute.evidence.count()) == ("pending", 2)
    assert AuditEntry.objects.filter(action="responded").latest("id").detail == "Submit the evidence"


def test_an_operator_adds_a_file_which_is_sealed_and_audited(dispute: Dispute, operator: Client) -> None:
    content = b"%PDF-1.7 signed for by Juan"
    file = SimpleUploadedFile("juan.pdf", content, "text/html")
    assert act(operator, dispute, "add_evidence", type="receipt", file=file).status_code == 302
    piece = Evidence.objects.get()
    assert (piece.content_type, piece.size) == ("application/pdf", len(content))
    assert base64.b64decode(evidence.opened(dispute)[0].content) == content
    assert b"Juan" not in bytes(piece.sealed_content)
    assert "juan" not in str(AuditEntry.objects.get(action="responded").__dict__).lower()


def test_a_file_is_shown_by_its_name_kind_and_size_without_a_card_number(dispute: Dispute, operator: Client) -> None:
    file = SimpleUploadedFile("4242 4242 4242 4242 juan.pdf", b"%PDF-1.7")
    act(operator, dispute, "add_evidence", type="receipt", file=file)
    page = words_of(operator.get(page_of(dispute)))
    assert ("juan.pdf PDF, 8" in page, "4242" in page) == (True, False)


def test_a_card_number_where_the_name_of_a_file_is_cut_is_hidden_whole(dispute: Dispute, operator: Client) -> None:
    file = SimpleUploadedFile(f"{'a' * 64} 4000000000003055.pdf", b"%PDF-1.7")
    act(operator, dispute, "add_evidence", type="receipt", file=file)
    assert Evidence.objects.get().name == f"{'a' * 64} [redacted].pdf"


def test_only_the_form_of_evidence_lets_the_browser_show_a_chosen_picture(dispute: Dispute, operator: Client) -> None:
    pages = (address_of(dispute, "add_evidence"), page_of(dispute))
    assert ["blob:" in operator.get(page)["Content-Security-Policy"] for page in pages] == [True, False]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"file": b"GIF89a"}, "must be a PDF, PNG or JPEG"),
        ({"file": b"%PDF-".ljust(SIZE_MAX + 1)}, "larger than 2.0"),
        ({"file": b""}, "empty"),
        ({"file": b"%PDF-1.7", "text": "Signed for"}, "a text or a file"),
        ({}, "a text or a file"),
        ({"text": "\u200b \u2060"}, "nothing but blanks"),
    ],
    ids=["another type", "too large", "empty", "with a text", "nothing", "nothing to read"],
)
def test_what_is_no_piece_of_evidence_is_refused(
    dispute: Dispute, operator: Client, fields: dict[str, Any], words: str
) -> None:
    files = {"file": SimpleUploadedFile("file.pdf", fields.pop("file"))} if "file" in fields else {}
    assert words in text_of(act(operator, dispute, "add_evidence", type="receipt", **fields, **files))
    assert not Evidence.objects.exists()


def test_operators_send_no_more_evidence_in_a_day_than_the_merchant(
    dispute: Dispute, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(evidence.BYTES_A_DAY, False, 10)
    file = SimpleUploadedFile("file.pdf", b"%PDF-1.7 ab")
    assert "in a day" in text_of(act(operator, dispute, "add_evidence", type="receipt", file=file))
    assert not Evidence.objects.exists()


def test_a_file_without_the_forms_token_is_refused(dispute: Dispute) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(the_operator())
    file = SimpleUploadedFile("file.pdf", b"%PDF-1.7")
    fields = {"type": "receipt", "reason": "Ticket 4711", "file": file}
    assert client.post(address_of(dispute, "add_evidence"), fields).status_code == 403
    assert not Evidence.objects.exists()


def test_the_other_forms_of_a_dispute_take_no_file(dispute: Dispute, operator: Client) -> None:
    file = SimpleUploadedFile("file.pdf", b"%PDF-1.7")
    assert act(operator, dispute, "accept", file=file).status_code == 400


def test_evidence_with_a_card_number_is_refused(dispute: Dispute, operator: Client) -> None:
    text = text_of(act(operator, dispute, "add_evidence", type="receipt", text="4242 4242 4242 4242"))
    assert "This looks like it holds a card number" in text
    assert not Evidence.objects.exists()


def test_nothing_is_offered_on_a_dispute_that_was_responded_to(dispute: Dispute, operator: Client) -> None:
    ways = [address_of(dispute, name) for name in ("add_evidence", "accept")]
    before = text_of(operator.get(page_of(dispute)))
    act(operator, dispute, "add_evidence", type="receipt", text="Signed for")
    act(operator, dispute, "submit_evidence")
    after = text_of(operator.get(page_of(dispute)))
    assert [(way in before, way in after) for way in ways] == [(True, False)] * 2


@pytest.mark.parametrize(("limit", "is_accepted"), [(10_000, True), (9_999, False)])
def test_a_loss_is_accepted_up_to_the_operators_limit(
    dispute: Dispute, finance: Client, limit: int, is_accepted: bool
) -> None:
    ApprovalLimit.objects.filter(role__name="finance", currency="PHP").update(amount=limit)
    answer = act(finance, dispute, "accept")
    dispute.refresh_from_db()
    assert dispute.response == ("accept" if is_accepted else "")
    assert is_accepted or "above your approval limit" in text_of(answer)


def test_an_inquiry_offers_no_acceptance(dispute: Dispute, operator: Client) -> None:
    Dispute.objects.update(status="warning", withdrawn=False, amount_withdrawn=0, money_stage=0)
    Charge.objects.update(amount_disputed=0)
    assert address_of(dispute, "accept") not in text_of(operator.get(page_of(dispute)))


@pytest.mark.parametrize("chosen", ["live", "test"])
def test_a_form_names_the_mode_of_its_dispute_and_not_the_chosen_one(
    dispute: Dispute, operator: Client, chosen: str
) -> None:
    text = text_of(operator.get(address_of(dispute, "accept"), {"mode": chosen}))
    assert "This is test mode: no money moves." in text


INBOX = reverse("admin:inbox")


def test_the_page_of_a_charge_shows_its_disputes_and_what_the_bank_has(house: House, operator: Client) -> None:
    dispute = make_dispute(Charge.objects.get(), amount=1_000)
    text = text_of(operator.get(page_of(dispute.charge))).replace("\N{NO-BREAK SPACE}", " ")
    assert page_of(dispute) in text
    assert "Taken by the payer&#x27;s bank" in text
    assert "−₱10.00" in text


def test_money_that_the_bank_has_is_not_offered_to_be_given_back(api: Api, operator: Client) -> None:
    charge = Charge.objects.get(id=parse_id("ch", api.charge()["id"]))
    ways = [reverse(f"admin:payments_charge_{verb}", args=[charge.pk]) for verb in ("refund", "void")]
    before = text_of(operator.get(page_of(charge)))
    make_dispute(charge)
    after = text_of(operator.get(page_of(charge)))
    assert [(way in before, way in after) for way in ways] == [(True, False)] * 2


def test_the_page_of_a_dispute_shows_its_reason_deadline_and_events(house: House, operator: Client) -> None:
    text = text_of(operator.get(page_of(make_dispute(Charge.objects.get()))))
    assert [words in text for words in ("Needs response", "general", "dispute.created", "D1")] == [True] * 4


@pytest.mark.parametrize(("status", "found"), [("needs_response", True), ("won", False)])
def test_disputes_are_filtered_by_status(house: House, operator: Client, status: str, found: bool) -> None:
    dispute = make_dispute(Charge.objects.get())
    text = text_of(operator.get(list_of(Dispute), {"status": status})).partition("result_list")[2]
    assert (page_of(dispute) in text) == found


def test_a_dispute_to_answer_is_in_the_inbox_until_its_deadline(house: House, operator: Client) -> None:
    dispute = make_dispute(Charge.objects.get())
    text = text_of(operator.get(INBOX)).replace("\N{NO-BREAK SPACE}", " ")
    assert (page_of(dispute) in text, ">Disputed<" in text, "6 d 23 h left" in text) == (True, True, True)
    Dispute.objects.update(evidence_due_at=clock.now() - timedelta(seconds=1))
    assert page_of(dispute) not in text_of(operator.get(INBOX))


def test_the_first_to_be_due_is_the_first_to_answer(house: House) -> None:
    dispute = make_dispute(Charge.objects.get())
    assert list(rows.disputes_to_answer(None)) == [dispute]
    assert list(rows.disputes_to_answer([])) == []


def test_the_page_of_a_dispute_shows_what_its_merchant_has_sent(api: Api, operator: Client) -> None:
    dispute = make_dispute(Charge.objects.get(id=parse_id("ch", api.charge()["id"])))
    made(api.post(f"/disputes/{dispute}/evidence", {"type": "receipt", "text": "Signed by Juan"}))
    made(api.post(f"/disputes/{dispute}/submit"))
    text = text_of(operator.get(page_of(dispute))).replace("\N{NO-BREAK SPACE}", " ")
    assert [words in text for words in ("receipt: Text, 14 bytes", "Pending", "Signed by")] == [True, True, False]


def test_a_dispute_that_its_merchant_has_responded_to_is_not_in_the_inbox(api: Api, operator: Client) -> None:
    dispute = make_dispute(Charge.objects.get(id=parse_id("ch", api.charge()["id"])))
    made(api.post(f"/disputes/{dispute}/accept"))
    assert page_of(dispute) not in text_of(operator.get(INBOX))


def test_the_inbox_and_the_merchants_page_show_a_high_rate(
    shop: NewMerchant, operator: Client, settings: Settings
) -> None:
    settings.DISPUTE_WARNING = {"basis_points": 65, "disputes": 2}
    made_charges(shop.merchant, THIS_MONTH, 100)
    make_disputes(shop.merchant, THIS_MONTH, 2)
    page = reverse("admin:payments_merchant_change", args=[shop.merchant.pk])
    inbox = text_of(operator.get(INBOX)).replace("\N{NO-BREAK SPACE}", " ")
    assert ("2 disputes this month: 2.00 % of charges" in inbox, page in inbox) == (True, True)
    text = text_of(operator.get(page)).replace("\N{NO-BREAK SPACE}", " ")
    assert "2, ₱2.00; 2.00 % of 100 charges of the month" in text

"""Responses to disputes at Xendit: where evidence goes, what is sent once, and what gets lost."""

import base64
import json
from typing import Any

import pytest

from payments.providers.base import Approved, NotSent, Outcome, Rejected, Unknown
from payments.providers.disputes import DisputeResponse, Evidence, EvidenceType, Response
from payments.providers.evidence import documents
from payments.providers.evidence.documents import Unusable
from payments.providers.xendit.client import read
from payments.providers.xendit.disputes.evidence import placed
from tests.providers.bench import Spoilt, taken
from tests.providers.evidence import file, image, pdf, text
from tests.providers.xendit.bench import XenditBench
from tests.providers.xendit.disputes import MadeDispute, takes

DELIVERY = text(EvidenceType.SHIPPING, "Signed for by Maria")
STATEMENT = text(EvidenceType.OTHER, "She was at the store")
PIECES = (DELIVERY, STATEMENT)
# The requests of a response of evidence that do something.
EVIDENCE_CALLS = 2
PATIENCE = 4


def disputed(bench: XenditBench, **members: Any) -> MadeDispute:
    return bench.fake.disputes.made[bench.begin_dispute(taken(bench), **members)]


def respond(
    bench: XenditBench, made: MadeDispute, *pieces: Evidence, response: Response = Response.EVIDENCE
) -> Outcome:
    return bench.connector.respond(DisputeResponse(made.id, made.of.reference, response, pieces))


def accept(bench: XenditBench, made: MadeDispute) -> Outcome:
    return respond(bench, made, response=Response.ACCEPT)


def names(made: MadeDispute) -> list[str]:
    return [each["category_slug"] for each in made.evidences]


def where(allowed: tuple[dict[str, Any], ...], *pieces: Evidence) -> dict[str, list[str]]:
    """Return the types of the pieces in each place."""
    category = read(json.dumps({"name": "fraud", "allowed_evidence": allowed}).encode())
    return {place.name: [piece.type.value for piece in place.pieces] for place in placed(category, pieces)}


SHORT, LONG = text(EvidenceType.RECEIPT, "PHP 100.00"), text(EvidenceType.RECEIPT, "a" * 256)
RECEIPT_FILE = file(EvidenceType.RECEIPT, "application/pdf", b"%PDF-1.7 a receipt")
FILE, TEXT = takes("proof_of_delivery"), takes("explanation", "TEXT", 255)
PLACES = {
    "by the words of a name": (
        (takes("ITEMIZED_RECEIPTS"), FILE, takes("customer_communication")),
        (SHORT, DELIVERY, text(EvidenceType.COMMUNICATION)),
        {
            "ITEMIZED_RECEIPTS": ["receipt"],
            "proof_of_delivery": ["shipping_documentation"],
            "customer_communication": ["customer_communication"],
        },
    ),
    "by our own name": (
        (FILE, takes("refund_policy")),
        (text(EvidenceType.REFUND_POLICY),),
        {"refund_policy": ["refund_policy"]},
    ),
    "a short text among what shows anything": ((FILE, TEXT), (SHORT,), {"explanation": ["receipt"]}),
    "a text that is too long in a file": ((FILE, TEXT), (LONG,), {"proof_of_delivery": ["receipt"]}),
    "one text in a text": (
        (FILE, TEXT),
        (SHORT, STATEMENT),
        {"proof_of_delivery": ["other"], "explanation": ["receipt"]},
    ),
    "a file in no text": ((TEXT, takes("OTHERS")), (RECEIPT_FILE,), {"OTHERS": ["receipt"]}),
    "what nothing shows with the others": (
        (FILE, takes("customer_signature")),
        (text(EvidenceType.SIGNATURE), text(EvidenceType.DUPLICATE)),
        {"proof_of_delivery": ["customer_signature", "duplicate_charge_documentation"]},
    ),
    "what is recommended first": (
        (takes("receipt"), takes("invoice", recommended=True)),
        (SHORT,),
        {"invoice": ["receipt"]},
    ),
}


@pytest.mark.parametrize(("allowed", "pieces", "expected"), PLACES.values(), ids=PLACES)
def test_each_piece_goes_where_xendit_takes_it(
    allowed: tuple[dict[str, Any], ...], pieces: tuple[Evidence, ...], expected: dict[str, list[str]]
) -> None:
    assert where(allowed, *pieces) == expected


NO_PLACE = {
    "nothing allowed": ((), "Respond in its dashboard"),
    "texts alone": ((TEXT,), r"explanation \(text of up to 255 characters\)"),
    "a name that is no field": ((takes('a"\r\nb'),), "Respond in its dashboard"),
}


@pytest.mark.parametrize(("allowed", "why"), NO_PLACE.values(), ids=NO_PLACE)
def test_evidence_without_a_place_is_refused_with_what_is_taken(allowed: tuple[dict[str, Any], ...], why: str) -> None:
    with pytest.raises(Unusable, match=why):
        where(allowed, RECEIPT_FILE)


def test_texts_and_files_are_sent_as_what_they_are(bench: XenditBench) -> None:
    made = disputed(bench)
    delivered = file(EvidenceType.SHIPPING, "image/jpeg", image("JPEG"))
    assert respond(bench, made, delivered, STATEMENT) == Approved(made.id)
    sent = {each["category_slug"]: each for each in made.evidences}
    assert (sent["proof_of_delivery"]["mime_type"], sent["explanation"]["text_content"]) == (
        "image/jpeg",
        STATEMENT.content,
    )
    assert sent["proof_of_delivery"]["filename"].endswith(".jpg")


def test_pieces_of_one_place_are_one_file(bench: XenditBench) -> None:
    made = disputed(bench)
    scan = file(EvidenceType.SIGNATURE, "application/pdf", pdf("Maria"))
    assert isinstance(respond(bench, made, DELIVERY, scan), Approved)
    assert [(each["category_slug"], each["mime_type"]) for each in made.evidences] == [
        ("proof_of_delivery", "application/pdf")
    ]


def test_files_for_which_the_host_has_no_time_are_sent_later(
    bench: XenditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = disputed(bench)
    scan = file(EvidenceType.SIGNATURE, "application/pdf", pdf("Maria"))
    monkeypatch.setattr(documents, "SECONDS", 0)
    assert isinstance(respond(bench, made, DELIVERY, scan), NotSent)
    assert made.evidences == []


@pytest.mark.long
@pytest.mark.parametrize("how", [Spoilt.LOST, Spoilt.CUT, Spoilt.FAILING, Spoilt.DROPPED, Spoilt.BUSY])
@pytest.mark.parametrize("number", range(EVIDENCE_CALLS))
def test_evidence_is_sent_whole_and_once_whichever_answer_is_lost(bench: XenditBench, number: int, how: Spoilt) -> None:
    made = disputed(bench)
    bench.spoil_posts([None] * number + [how])
    first, *others = [respond(bench, made, *PIECES) for _ in range(PATIENCE)]
    assert isinstance(first, NotSent if how is Spoilt.BUSY else Unknown)
    assert set(others) == {Approved(made.id)}
    assert (made.challenges, names(made)) == (1, ["proof_of_delivery", "explanation"])


@pytest.mark.parametrize("how", [Spoilt.LOST, Spoilt.FAILING, Spoilt.DROPPED, Spoilt.BUSY])
def test_a_loss_is_accepted_once_whichever_answer_is_lost(bench: XenditBench, how: Spoilt) -> None:
    made = disputed(bench)
    bench.spoil_next(how)
    first, *others = [accept(bench, made) for _ in range(PATIENCE)]
    assert isinstance(first, NotSent if how is Spoilt.BUSY else Unknown)
    assert (set(others), made.acceptances) == ({Approved(made.id)}, 1)


def test_nothing_is_sent_while_xendit_does_not_say_how_the_dispute_stands(bench: XenditBench) -> None:
    made = disputed(bench)
    bench.spoil_next(Spoilt.DOWN)
    assert isinstance(accept(bench, made), Unknown)
    assert made.acceptances == 0


@pytest.mark.parametrize("response", Response)
def test_what_is_acknowledged_and_not_done_yet_is_no_refusal_of_a_repeated_response(
    bench: XenditBench, response: Response
) -> None:
    made = disputed(bench, is_slow=True)
    pieces = PIECES if response is Response.EVIDENCE else ()
    outcomes = [respond(bench, made, *pieces, response=response) for _ in range(2)]
    assert [type(outcome) for outcome in outcomes] == [Approved, Unknown]
    made.catch_up()
    assert respond(bench, made, *pieces, response=response) == Approved(made.id)
    assert made.challenges + made.acceptances == 1


LATE = {
    "accepted": ("LOST", "ACCEPTED", "lost accepted"),
    "expired": ("LOST", "EXCEEDED_DEADLINE", "lost exceeded deadline"),
    "won": ("WON", "WITHDRAWN", "won withdrawn"),
    "challenged by others": ("UNDER_REVIEW", None, "under review"),
}


@pytest.mark.parametrize(("status", "reason", "words"), LATE.values(), ids=LATE)
def test_evidence_against_a_dispute_that_takes_none_is_refused(
    bench: XenditBench, status: str, reason: str | None, words: str
) -> None:
    made = disputed(bench)
    made.move(status, reason)
    outcome = respond(bench, made, *PIECES)
    assert isinstance(outcome, Rejected)
    assert words in outcome.message
    assert (made.evidences, made.challenges) == ([], 0)


def test_evidence_that_was_added_to_a_dispute_that_was_accepted_then_is_not_called_sent(bench: XenditBench) -> None:
    made = disputed(bench)
    bench.spoil_posts([None, Spoilt.DROPPED])
    respond(bench, made, *PIECES)
    made.move("LOST", "ACCEPTED")
    assert isinstance(respond(bench, made, *PIECES), Rejected)


def test_a_dispute_under_review_cannot_be_accepted(bench: XenditBench) -> None:
    made = disputed(bench)
    made.move("UNDER_REVIEW", None)
    assert isinstance(accept(bench, made), Rejected)


def test_evidence_of_an_earlier_try_is_replaced(bench: XenditBench) -> None:
    made = disputed(bench)
    bench.spoil_posts([None, Spoilt.DROPPED])
    respond(bench, made, *PIECES)
    corrected = text(EvidenceType.OTHER, "She was at the other store")
    assert isinstance(respond(bench, made, DELIVERY, corrected), Approved)
    assert names(made) == ["proof_of_delivery", "explanation"]
    assert made.evidences[1]["text_content"] == corrected.content


def test_more_evidence_is_added_to_what_the_bank_has_seen(bench: XenditBench) -> None:
    made = disputed(bench)
    respond(bench, made, *PIECES)
    made.move("ACTION_REQUIRED", "NEED_MORE_INFORMATION")
    scan = file(EvidenceType.SHIPPING, "application/pdf", pdf("Maria"))
    assert isinstance(respond(bench, made, scan, STATEMENT), Approved)
    assert (names(made), made.challenges) == (["proof_of_delivery", "explanation", "proof_of_delivery"], 2)


@pytest.mark.long
def test_files_are_sent_once_though_xendit_does_not_show_their_names(bench: XenditBench) -> None:
    made = disputed(bench, echoes_filenames=False)
    bench.spoil_posts([None, Spoilt.DROPPED])
    outcomes = [respond(bench, made, *PIECES) for _ in range(2)]
    assert [type(outcome) for outcome in outcomes] == [Unknown, Approved]
    assert sorted(names(made)) == ["explanation", "proof_of_delivery"]


def test_more_of_an_earlier_try_than_one_response_deletes_is_deleted_by_the_next(bench: XenditBench) -> None:
    made = disputed(bench, allowed=(takes("proof_of_delivery", many=20), takes("explanation", "TEXT", 255)))
    old = {"category_slug": "proof_of_delivery", "type": "FILE", "created_at": "2026-11-21T12:00:00Z"}
    made.evidences = [old | {"id": f"mi-dspt-evd-{number}"} for number in range(8)]
    outcomes = [respond(bench, made, *PIECES) for _ in range(2)]
    assert [type(outcome) for outcome in outcomes] == [Unknown, Approved]
    assert sorted(names(made)) == ["explanation", "proof_of_delivery"]


def test_a_challenge_goes_out_with_all_of_the_evidence_or_not_at_all(bench: XenditBench) -> None:
    made = disputed(bench)
    broken = file(EvidenceType.SHIPPING, "application/pdf", b"no PDF")
    outcome = respond(bench, made, broken, STATEMENT)
    assert outcome == Rejected(
        "evidence_refused", "Xendit does not take all of the evidence: proof_of_delivery (It is not taken.)"
    )
    assert made.challenges == 0


def test_a_file_that_is_larger_than_xendit_takes_is_refused_before_anything_is_sent(bench: XenditBench) -> None:
    made = disputed(bench, allowed=(takes("proof_of_delivery", most=100),))
    outcome = respond(bench, made, file(EvidenceType.SHIPPING, "application/pdf", b"%PDF-" + b"0" * 100))
    assert isinstance(outcome, Rejected)
    assert "Make them smaller" in outcome.message
    assert made.evidences == []


def test_a_dispute_without_a_category_is_answered_in_the_dashboard(bench: XenditBench) -> None:
    outcome = respond(bench, disputed(bench, allowed=()), *PIECES)
    assert isinstance(outcome, Rejected)
    assert "dashboard" in outcome.message


def test_no_outcome_shows_what_the_evidence_says(bench: XenditBench) -> None:
    made = disputed(bench)
    secret = base64.b64encode(b"Maria's address").decode()
    shown = repr([respond(bench, made, file(EvidenceType.SHIPPING, "application/pdf", b"Maria's address"))])
    assert "Maria" not in shown
    assert secret not in shown

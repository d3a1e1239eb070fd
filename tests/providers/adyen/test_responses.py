"""Responses to disputes at Adyen: the reason that is chosen, and what gets lost."""

import base64

import pytest

from payments.providers import http
from payments.providers.adyen.defense import _chosen
from payments.providers.base import Approved, NotSent, Rejected, Unknown
from payments.providers.disputes import DisputeResponse, Evidence, EvidenceType, Response, Stage
from payments.providers.evidence import documents
from payments.providers.evidence.documents import Unusable
from tests.providers.adyen.bench import AdyenBench, SpoilsDisputes, adyen_bench
from tests.providers.adyen.dispute_books import ONE_OR_MORE, OPTIONAL, REASONS, REQUIRED, DisputeBook
from tests.providers.bench import Spoilt, taken
from tests.providers.evidence import file, image, text

EVIDENCE_CALLS = 3
PATIENCE = 3


def responding(bench: AdyenBench, *pieces: Evidence) -> tuple[DisputeBook, DisputeResponse]:
    """Return a dispute at Adyen, and the evidence against it."""
    payment = taken(bench)
    book = bench.fake.books.disputes[bench.begin_dispute(payment)]
    return book, DisputeResponse(book.psp_reference, payment.reference, Response.EVIDENCE, pieces)


def chosen(reasons: dict[str, dict[str, str]], *types: EvidenceType) -> tuple[str, dict[str, list[str]]]:
    """Return the reason that evidence of these types is sent for, and the types in each of its documents."""
    listed = DisputeBook("D", "P", reasons)._list({})["defenseReasons"]
    defense = _chosen(listed, [text(type_) for type_ in types])
    return defense.reason, {kind: [piece.type.value for piece in pieces] for kind, pieces in defense.evidence.items()}


VISA_13_1 = {
    "InvalidChargeback": {"InvalidChargeback": OPTIONAL},
    "MerchandiseReceived": {"DateMerchandiseShipped": REQUIRED, "ProofOfGoodsOrServicesProvided": REQUIRED},
    "ServicesProvided": {"ProofOfGoodsOrServicesProvided": REQUIRED},
}
PROVIDED = {
    "GoodsOrServicesProvided": {
        "ProofOfAbilityToProvideServices": ONE_OR_MORE,
        "ProofOfGoodsOrServicesProvided": ONE_OR_MORE,
    }
}


@pytest.mark.parametrize(
    ("reasons", "types", "expected"),
    [
        (REASONS, "other", ("SupplyDefenseMaterial", {"DefenseMaterial": ["other"]})),
        (
            REASONS,
            "receipt shipping_documentation customer_communication",
            (
                "SupplyDefenseMaterial",
                {"TIDorInvoice": ["receipt"], "DefenseMaterial": ["shipping_documentation", "customer_communication"]},
            ),
        ),
        (REASONS, "receipt", ("SupplyDefenseMaterial", {"TIDorInvoice": ["receipt"], "DefenseMaterial": ["receipt"]})),
        (
            VISA_13_1,
            "shipping_documentation",
            (
                "MerchandiseReceived",
                {
                    "DateMerchandiseShipped": ["shipping_documentation"],
                    "ProofOfGoodsOrServicesProvided": ["shipping_documentation"],
                },
            ),
        ),
        (
            VISA_13_1,
            "service_documentation refund_policy",
            ("ServicesProvided", {"ProofOfGoodsOrServicesProvided": ["service_documentation", "refund_policy"]}),
        ),
        (
            PROVIDED,
            "service_documentation other",
            ("GoodsOrServicesProvided", {"ProofOfGoodsOrServicesProvided": ["service_documentation", "other"]}),
        ),
    ],
)
def test_a_reason_is_chosen_that_the_evidence_fills_and_all_of_it_is_sent(
    reasons: dict[str, dict[str, str]], types: str, expected: tuple[str, dict[str, list[str]]]
) -> None:
    assert chosen(reasons, *map(EvidenceType, types.split())) == expected


@pytest.mark.parametrize(
    ("reasons", "type_", "words"),
    [
        (VISA_13_1, EvidenceType.RECEIPT, "shipping_documentation"),
        ({"GoodsNotReturned": REASONS["GoodsNotReturned"]}, EvidenceType.OTHER, "receipt"),
        ({"InvalidChargeback": REASONS["InvalidChargeback"]}, EvidenceType.OTHER, "Customer Area"),
        ({}, EvidenceType.OTHER, "Customer Area"),
    ],
)
def test_evidence_that_fills_no_reason_is_refused_with_what_would_do(
    reasons: dict[str, dict[str, str]], type_: EvidenceType, words: str
) -> None:
    with pytest.raises(Unusable, match=words):
        chosen(reasons, type_)


@pytest.mark.parametrize(
    ("content_type", "content"), [("application/pdf", b"%PDF-1.7 not even whole"), ("image/jpeg", image("JPEG"))]
)
def test_a_file_by_itself_is_sent_as_it_is(bench: AdyenBench, content_type: str, content: bytes) -> None:
    book, asked = responding(bench, file(EvidenceType.OTHER, content_type, content))
    assert isinstance(bench.connector.respond(asked), Approved)
    sent = book.documents["DefenseMaterial"]
    assert (sent["contentType"], base64.b64decode(sent["content"])) == (content_type, content)


def test_unusable_evidence_changes_nothing_at_adyen(bench: AdyenBench) -> None:
    book, asked = responding(bench, text(EvidenceType.OTHER, "She said ☃"))
    assert isinstance(bench.connector.respond(asked), Rejected)
    assert (book.documents, book.defended) == ({}, [])


def test_evidence_for_which_the_host_has_no_time_is_sent_later(
    bench: AdyenBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, asked = responding(bench, text(EvidenceType.OTHER))
    monkeypatch.setattr(documents, "SECONDS", 0)
    assert isinstance(bench.connector.respond(asked), NotSent)
    assert (book.documents, book.defended) == ({}, [])
    monkeypatch.undo()
    assert isinstance(bench.connector.respond(asked), Approved)


@pytest.mark.long
@pytest.mark.parametrize("how", [Spoilt.LOST, Spoilt.CUT, Spoilt.FAILING, Spoilt.DROPPED, Spoilt.BUSY])
@pytest.mark.parametrize("number", range(EVIDENCE_CALLS))
def test_evidence_is_sent_whole_and_once_whichever_answer_is_lost(number: int, how: Spoilt) -> None:
    with adyen_bench(spoiling := SpoilsDisputes(number, how)) as bench:
        spoiling.fake = bench.fake
        book, asked = responding(bench, text(EvidenceType.RECEIPT), text(EvidenceType.OTHER))
        outcomes = [bench.connector.respond(asked) for _ in range(PATIENCE)]
        assert isinstance(outcomes[0], NotSent if how is Spoilt.BUSY else Unknown)
        assert book.defended == ["SupplyDefenseMaterial"]
        assert sorted(book.documents) == ["DefenseMaterial", "TIDorInvoice"]
        events = [event for message in bench.webhooks() for event in bench.connector.read_webhook(*message)]
        assert [event.dispute.stage for event in events if event.dispute] == [Stage.CHARGEBACK, Stage.EVIDENCE]


def test_documents_of_an_earlier_try_are_replaced(bench: AdyenBench) -> None:
    book, asked = responding(bench, file(EvidenceType.OTHER, "application/pdf", b"%PDF-1.7 new"))
    book.documents["DefenseMaterial"] = {"contentType": "application/pdf", "content": "old"}
    assert isinstance(bench.connector.respond(asked), Approved)
    assert base64.b64decode(book.documents["DefenseMaterial"]["content"]) == b"%PDF-1.7 new"


def test_a_dispute_whose_time_is_over_is_refused_in_adyens_words(bench: AdyenBench) -> None:
    book, asked = responding(bench, text(EvidenceType.OTHER))
    book.is_expired = True
    assert bench.connector.respond(asked) == Rejected("dispute_service", "Dispute expired.")


def test_an_answer_that_does_not_say_whether_it_was_done_is_unknown(bench: AdyenBench) -> None:
    _, asked = responding(bench, text(EvidenceType.OTHER))
    other = AdyenBench(bench.fake, bench.fake.address, lambda *_: http.Reply(200, {}, b"{}"))
    assert isinstance(other.connector.respond(asked), Unknown)


def test_the_end_of_the_defense_period_is_an_accepted_loss_or_a_missed_deadline(bench: AdyenBench) -> None:
    stages = []
    for additional in ({"disputeStatus": "Accepted"}, {"disputeStatus": "Expired"}, {}):
        book, _ = responding(bench)
        bench.fake.books.report_dispute(book, "DISPUTE_DEFENSE_PERIOD_ENDED", **additional)
        [event] = bench.connector.read_webhook(*bench.webhooks()[-1])
        assert event.dispute
        stages.append(event.dispute.stage)
    assert stages == [Stage.ACCEPTED, Stage.EXPIRED, Stage.EXPIRED]


def test_responses_go_to_adyens_own_host_with_the_key_and_no_more(bench: AdyenBench) -> None:
    urls: list[str] = []

    def send(method: str, url: str, headers: object, body: bytes | None = None) -> http.Reply:
        urls.append(url)
        return http.Reply(200, {}, b'{"disputeServiceResult": {"success": true}}')

    AdyenBench(bench.fake, "", send).connector.respond(DisputeResponse("D", "P", Response.ACCEPT))
    assert urls == ["https://ca-test.adyen.com/ca/services/DisputeService/v30/acceptDispute"]

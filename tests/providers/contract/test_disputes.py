"""What providers that report disputes say of them, and how they take responses: the same at each."""

from collections.abc import Iterator

import pytest

from payments.providers.base import Approved, Payment, Rejected, Report, Unknown
from payments.providers.disputes import Disputed, DisputeResponse, Evidence, EvidenceType, Response
from payments.providers.simulator.disputes import STORIES
from payments.providers.simulator.scenarios import Story
from tests.providers.adyen.bench import AdyenBench
from tests.providers.bench import AMOUNT, Spoilt, taken
from tests.providers.contract.conftest import BENCHES
from tests.providers.simulator.bench import SimulatorBench

DISPUTING = ("adyen", "simulator")
PIECES = (
    Evidence(EvidenceType.RECEIPT, "text/plain", "Two plates of halo-halo, PHP 100.00"),
    Evidence(EvidenceType.COMMUNICATION, "text/plain", "Maria: it arrived, salamat!"),
)
BOTH = {Response.EVIDENCE: PIECES, Response.ACCEPT: ()}
every_response = pytest.mark.parametrize("response", BOTH)
every_story = pytest.mark.parametrize("story", Story)


@pytest.fixture(params=DISPUTING)
def bench(request: pytest.FixtureRequest, db: None) -> Iterator[AdyenBench | SimulatorBench]:
    """Each provider that reports disputes in turn."""
    with BENCHES[request.param]() as made:
        assert isinstance(made, AdyenBench | SimulatorBench)
        yield made


def reports_of(bench: AdyenBench | SimulatorBench, payment: Payment) -> list[Report]:
    """Return the reports about disputes of a payment, oldest first."""
    reports = [report for message in bench.webhooks() for report in bench.connector.read_webhook(*message)]
    return [report for report in reports if report.dispute and report.reference == payment.reference]


def disputes_of(bench: AdyenBench | SimulatorBench, story: Story) -> list[Disputed]:
    """Return what is reported of a payment whose bank does all that is in `story`."""
    payment = taken(bench)
    bench.dispute(payment, story)
    return [report.dispute for report in reports_of(bench, payment) if report.dispute]


@every_story
def test_each_stage_is_reported_in_order(bench: AdyenBench | SimulatorBench, story: Story) -> None:
    assert [dispute.stage for dispute in disputes_of(bench, story)] == [stage for _, stage in STORIES[story]]


@every_story
def test_a_dispute_has_one_name_and_the_amount_of_its_payment(bench: AdyenBench | SimulatorBench, story: Story) -> None:
    disputes = disputes_of(bench, story)
    assert len({dispute.provider_ref for dispute in disputes}) == 1
    assert {(dispute.amount, dispute.currency) for dispute in disputes} == {(AMOUNT, "PHP")}


def test_a_report_of_a_dispute_is_no_outcome_of_its_payment(bench: AdyenBench | SimulatorBench) -> None:
    payment = taken(bench)
    bench.webhooks()
    bench.dispute(payment, Story.LOST)
    assert [report.outcome for report in reports_of(bench, payment)] == [None, None]


def responding(bench: AdyenBench | SimulatorBench, response: Response) -> tuple[Payment, DisputeResponse]:
    """Return a payment whose money the bank took back, and the merchant's response."""
    payment = taken(bench)
    provider_ref = bench.begin_dispute(payment)
    return payment, DisputeResponse(provider_ref, payment.reference, response, BOTH[response])


@every_response
def test_a_response_is_taken(bench: AdyenBench | SimulatorBench, response: Response) -> None:
    payment, asked = responding(bench, response)
    assert bench.connector.respond(asked) == Approved(asked.provider_ref)
    assert bench.responses(payment) == [response]


@every_response
def test_a_repeated_response_changes_nothing(bench: AdyenBench | SimulatorBench, response: Response) -> None:
    payment, asked = responding(bench, response)
    bench.connector.respond(asked)
    assert isinstance(bench.connector.respond(asked), Approved | Rejected)
    assert bench.responses(payment) == [response]


@every_response
def test_a_response_whose_answer_is_lost_is_unknown_and_reaches_the_provider_once(
    bench: AdyenBench | SimulatorBench, response: Response
) -> None:
    payment, asked = responding(bench, response)
    bench.spoil_next(Spoilt.LOST)
    assert isinstance(bench.connector.respond(asked), Unknown)
    assert isinstance(bench.connector.respond(asked), Approved | Rejected)
    assert bench.responses(payment) == [response]


def test_a_response_after_another_one_is_refused(bench: AdyenBench | SimulatorBench) -> None:
    payment, asked = responding(bench, Response.ACCEPT)
    bench.connector.respond(asked)
    other = DisputeResponse(asked.provider_ref, payment.reference, Response.EVIDENCE, PIECES)
    assert isinstance(bench.connector.respond(other), Rejected)
    assert bench.responses(payment) == ["accept"]


@every_response
def test_a_response_to_a_dispute_that_the_provider_does_not_know_is_refused(
    bench: AdyenBench | SimulatorBench, response: Response
) -> None:
    payment = taken(bench)
    unknown = DisputeResponse("nobody's", payment.reference, response, BOTH[response])
    assert isinstance(bench.connector.respond(unknown), Rejected)

"""What providers that event disputes say of them, and how they take responses: the same at each."""

from collections.abc import Iterator, Sequence
from itertools import chain

import pytest

from payments.providers.abilities import FindsDisputes
from payments.providers.base import Approved, Payment, Rejected, Unknown, WebhookEvent
from payments.providers.disputes import (
    Disputed,
    DisputeNews,
    DisputeResponse,
    Evidence,
    EvidenceType,
    FoundDispute,
    Response,
    Stage,
)
from payments.providers.simulator.disputes import STORIES
from payments.providers.simulator.scenarios import Story
from tests.providers.adyen.bench import AdyenBench
from tests.providers.bench import AMOUNT, Spoilt, taken
from tests.providers.contract.conftest import BENCHES
from tests.providers.simulator.bench import SimulatorBench
from tests.providers.xendit.bench import XenditBench

DisputingBench = AdyenBench | SimulatorBench | XenditBench
PIECES = (
    Evidence(EvidenceType.RECEIPT, "text/plain", "Two plates of halo-halo, PHP 100.00"),
    Evidence(EvidenceType.COMMUNICATION, "text/plain", "Maria: it arrived, salamat!"),
)
BOTH = {Response.EVIDENCE: PIECES, Response.ACCEPT: ()}
every_response = pytest.mark.parametrize("response", BOTH)
every_story = pytest.mark.parametrize("story", Story)


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest, db: None) -> Iterator[DisputingBench]:
    """Each provider in turn: all of them event disputes."""
    with BENCHES[request.param]() as made:
        assert isinstance(made, DisputingBench)
        yield made


def events_of(bench: DisputingBench, payment: Payment) -> list[WebhookEvent]:
    """Return the events about disputes of a payment, oldest first."""
    webhooks = bench.dispute_webhooks() if isinstance(bench, XenditBench) else bench.webhooks()
    events = [event for message in webhooks for event in bench.connector.read_webhook(*message)]
    return [event for event in events if event.dispute and event.reference == payment.reference]


def stages_in(bench: DisputingBench, payment: Payment, event: WebhookEvent) -> Sequence[Disputed]:
    """Return the stages in an event, looked up where it only has news."""
    if not isinstance(event.dispute, DisputeNews):
        return [event.dispute] if event.dispute else []
    assert isinstance(bench.connector, FindsDisputes)
    found = bench.connector.find_dispute(event.dispute.provider_ref)
    assert isinstance(found, FoundDispute)
    assert (found.payment_reference, found.unclear) == (payment.reference, "")
    return found.stages


def disputes_of(bench: DisputingBench, story: Story) -> list[Disputed]:
    """Return what is reported of a payment whose bank does all that is in `story`, each stage once."""
    payment = taken(bench)
    bench.dispute(payment, story)
    stages = (stages_in(bench, payment, event) for event in events_of(bench, payment))
    return list(dict.fromkeys(chain.from_iterable(stages)))


def expected_of(bench: DisputingBench, story: Story) -> list[Stage]:
    """Return the stages of a story, without the inquiries that Xendit does not have."""
    stages = [stage for _, stage in STORIES[story]]
    return [stage for stage in stages if not (isinstance(bench, XenditBench) and stage is Stage.INQUIRY)]


@every_story
def test_each_stage_is_reported_in_order(bench: DisputingBench, story: Story) -> None:
    assert [dispute.stage for dispute in disputes_of(bench, story)] == expected_of(bench, story)


@pytest.mark.parametrize("story", [story for story in Story if story is not Story.INQUIRY])
def test_a_dispute_has_one_name_and_the_amount_of_its_payment(bench: DisputingBench, story: Story) -> None:
    disputes = disputes_of(bench, story)
    assert len({dispute.provider_ref for dispute in disputes}) == 1
    assert {(dispute.amount, dispute.currency) for dispute in disputes} == {(AMOUNT, "PHP")}


def test_a_report_of_a_dispute_is_no_outcome_of_its_payment(bench: DisputingBench) -> None:
    payment = taken(bench)
    bench.webhooks()
    bench.dispute(payment, Story.LOST)
    assert [event.outcome for event in events_of(bench, payment)] == [None, None]


def responding(bench: DisputingBench, response: Response) -> tuple[Payment, DisputeResponse]:
    """Return a payment whose money the bank took back, and the merchant's response."""
    payment = taken(bench)
    provider_ref = bench.begin_dispute(payment)
    return payment, DisputeResponse(provider_ref, payment.reference, response, BOTH[response])


@pytest.mark.long
@every_response
def test_a_response_is_taken(bench: DisputingBench, response: Response) -> None:
    payment, asked = responding(bench, response)
    assert bench.connector.respond(asked) == Approved(asked.provider_ref)
    assert bench.responses(payment) == [response]


@pytest.mark.long
@every_response
def test_a_repeated_response_changes_nothing(bench: DisputingBench, response: Response) -> None:
    payment, asked = responding(bench, response)
    bench.connector.respond(asked)
    assert isinstance(bench.connector.respond(asked), Approved | Rejected)
    assert bench.responses(payment) == [response]


@pytest.mark.long
@every_response
def test_a_response_whose_answer_is_lost_is_unknown_and_reaches_the_provider_once(
    bench: DisputingBench, response: Response
) -> None:
    payment, asked = responding(bench, response)
    bench.spoil_next(Spoilt.LOST)
    assert isinstance(bench.connector.respond(asked), Unknown)
    assert isinstance(bench.connector.respond(asked), Approved | Rejected)
    assert bench.responses(payment) == [response]


def test_a_response_after_another_one_is_refused(bench: DisputingBench) -> None:
    payment, asked = responding(bench, Response.ACCEPT)
    bench.connector.respond(asked)
    other = DisputeResponse(asked.provider_ref, payment.reference, Response.EVIDENCE, PIECES)
    assert isinstance(bench.connector.respond(other), Rejected)
    assert bench.responses(payment) == ["accept"]


@every_response
def test_a_response_to_a_dispute_that_the_provider_does_not_know_is_refused(
    bench: DisputingBench, response: Response
) -> None:
    payment = taken(bench)
    unknown = DisputeResponse("nobody's", payment.reference, response, BOTH[response])
    assert isinstance(bench.connector.respond(unknown), Rejected)

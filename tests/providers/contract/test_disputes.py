"""What providers that report disputes say of them: the same at each."""

from collections.abc import Iterator

import pytest

from payments.providers.base import Payment, Report
from payments.providers.disputes import Disputed
from payments.providers.simulator.disputes import STORIES
from payments.providers.simulator.scenarios import Story
from tests.providers.adyen.bench import AdyenBench
from tests.providers.bench import AMOUNT, taken
from tests.providers.contract.conftest import BENCHES
from tests.providers.simulator.bench import SimulatorBench

DISPUTING = ("adyen", "simulator")
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

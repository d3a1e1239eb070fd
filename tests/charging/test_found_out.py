"""What was found out once stays found out: a question without an answer takes nothing of it back."""

import pytest

from payments.domain.approvals.decide import close_overtaken
from payments.domain.due_rows import LOOKUP_DELAYS_SECONDS
from payments.invariants import checks
from payments.invariants.registry import INVARIANTS
from payments.models import Attempt, Charge, UnknownOutcome
from payments.providers.base import Outcome, Unknown
from tests.charging.doubles import Do, Double, KnowsNothing, provider
from tests.charging.elapsed_time import recover, settle_refunds
from tests.client import CHALLENGED, REFUNDS_WAIT, Api, made
from tests.operators.corrections import corrected, proposed
from tests.pages.waiting_charges import page_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_late_question_without_an_answer_leaves_what_others_found_and_is_looked_up_soon(api: Api) -> None:
    def answer_too_late(do: Do, asked: object) -> Unknown:
        do()
        recover()
        return Unknown("timed out")

    with provider(Double(create_payment=answer_too_late)):
        api.charge(CHALLENGED)

    attempt = Attempt.objects.get()
    assert attempt.state == "waiting"
    assert attempt.due_at
    assert (attempt.due_at - attempt.updated_at).total_seconds() < LOOKUP_DELAYS_SECONDS[1]


def test_a_payer_can_still_pay_after_a_lookup_without_an_answer(api: Api) -> None:
    charge = api.charge(CHALLENGED)
    with provider(KnowsNothing()):
        recover()
    assert Attempt.objects.get().state == "waiting"

    api.client.post(page_of(charge), {"decision": "pay"}, follow=True)

    assert api.read(charge)["status"] == "succeeded"


def test_what_waits_is_on_the_desk_while_its_last_question_has_no_answer(api: Api) -> None:
    charge = api.charge(REFUNDS_WAIT)
    made(api.post(f"/charges/{charge['id']}/refund"))
    assert not UnknownOutcome.objects.exists()

    with provider(KnowsNothing()):
        recover()
    assert UnknownOutcome.objects.get().kind == "refund"

    recover()
    assert not UnknownOutcome.objects.exists()


def test_a_refund_that_waited_for_an_answer_ends_no_other_operation(api: Api) -> None:
    charge = api.charge(REFUNDS_WAIT)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1_000}))
    with provider(KnowsNothing()):
        recover()
    under_way = []

    def find_out(do: Do, asked: object) -> Outcome:
        settle_refunds()
        under_way.append(Charge.objects.get().operation)
        return do()

    with provider(Double(refund=find_out)):
        made(api.post(f"/charges/{charge['id']}/refund", {"amount": 2_000}))

    assert under_way == ["refund"]


@pytest.mark.parametrize(
    ("outcome", "status", "refunded"), [("approved", "succeeded", 1_000), ("declined", "failed", 0)]
)
def test_a_refund_that_waits_without_an_answer_is_corrected_by_two_people(
    api: Api, outcome: str, status: str, refunded: int
) -> None:
    charge = api.charge(REFUNDS_WAIT)
    made(api.post(f"/charges/{charge['id']}/refund", {"amount": 1_000}))
    with provider(KnowsNothing()):
        recover()

    corrected(Attempt.objects.get(kind="refund"), outcome)

    after = api.read(charge)
    assert (after["refunds"][0]["status"], after["amount_refunded"]) == (status, refunded)
    assert not UnknownOutcome.objects.exists()
    # An operator may say what the simulator does not.
    assert {failure["name"] for failure in checks.run(INVARIANTS).failures} <= {"simulator_agrees"}


def test_a_proposal_is_overtaken_when_the_provider_answers_again_that_it_comes_later(api: Api) -> None:
    charge = api.charge(REFUNDS_WAIT)
    made(api.post(f"/charges/{charge['id']}/refund"))
    with provider(KnowsNothing()):
        recover()
    correction = proposed(Attempt.objects.get(kind="refund"))
    assert close_overtaken() == 0

    recover()

    assert close_overtaken() == 1
    correction.refresh_from_db()
    assert correction.state == "overtaken"

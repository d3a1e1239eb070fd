"""How disputes at Xendit are read: what its documents say of them, and what they leave open."""

import json
from typing import Any

import pytest

from payments.providers import http
from payments.providers.base import NotFound, Unknown, WebhookEvent
from payments.providers.disputes import DisputeNews, FoundDispute, Reason, Stage
from payments.providers.xendit.client import XenditClient
from payments.providers.xendit.disputes import lookup
from payments.providers.xendit.webhooks import TOKEN_HEADER, read_webhook
from tests.providers.bench import AMOUNT, Spoilt, taken
from tests.providers.xendit.bench import XenditBench
from tests.providers.xendit.disputes import MadeDispute

TOKEN = "shown by the dashboard"


def disputed(bench: XenditBench, **members: Any) -> MadeDispute:
    """Return a dispute of a new payment, of all of it."""
    return bench.fake.disputes.made[bench.begin_dispute(taken(bench), **members)]


def found(bench: XenditBench, made: MadeDispute) -> FoundDispute:
    answer = bench.connector.find_dispute(made.id)
    assert isinstance(answer, FoundDispute), answer
    return answer


def stages(bench: XenditBench, made: MadeDispute) -> list[str]:
    return [stage.stage.name.lower() for stage in found(bench, made).stages]


# By the moves since the dispute was raised: the stages, the last of which is where it stands.
HISTORIES = {
    "raised": ([], "chargeback"),
    "challenged": (["UNDER_REVIEW"], "chargeback evidence"),
    "won": (["UNDER_REVIEW", "WON CHALLENGED"], "chargeback evidence reversed"),
    "lost": (["UNDER_REVIEW", "LOST CHALLENGED"], "chargeback evidence lost_finally"),
    "withdrawn": (["WON WITHDRAWN"], "chargeback reversed"),
    "won by arbitration": (["UNDER_REVIEW", "WON ARBITRATION"], "chargeback evidence won_finally"),
    "lost by arbitration": (["UNDER_REVIEW", "LOST ARBITRATION"], "chargeback evidence lost_finally"),
    "accepted": (["LOST ACCEPTED"], "chargeback accepted"),
    "expired": (["LOST EXCEEDED_DEADLINE"], "chargeback expired"),
    "asked again": (["UNDER_REVIEW", "ACTION_REQUIRED NEED_MORE_INFORMATION"], "chargeback evidence asked_again"),
    "answered again": (
        ["UNDER_REVIEW", "ACTION_REQUIRED NEED_MORE_INFORMATION", "UNDER_REVIEW"],
        "chargeback evidence asked_again evidence_again",
    ),
    "accepted when asked again": (
        ["UNDER_REVIEW", "ACTION_REQUIRED NEED_MORE_INFORMATION", "LOST ACCEPTED"],
        "chargeback evidence asked_again accepted_later",
    ),
    "expired when asked again": (
        ["UNDER_REVIEW", "ACTION_REQUIRED NEED_MORE_INFORMATION", "LOST EXCEEDED_DEADLINE"],
        "chargeback evidence lost_finally",
    ),
    "ended without a reason": (["LOST"], "chargeback lost_finally"),
}


def moved(made: MadeDispute, moves: list[str]) -> None:
    for move in moves:
        status, _, reason = move.partition(" ")
        made.move(status, reason or None)


@pytest.mark.parametrize(("moves", "expected"), HISTORIES.values(), ids=HISTORIES)
def test_a_dispute_is_looked_up_with_all_its_stages(bench: XenditBench, moves: list[str], expected: str) -> None:
    made = disputed(bench)
    moved(made, moves)
    assert (stages(bench, made), found(bench, made).unclear) == (expected.split(), "")


def test_what_happened_between_is_found_by_how_it_stands_where_the_timeline_is_missing(bench: XenditBench) -> None:
    made = disputed(bench)
    moved(made, ["UNDER_REVIEW", "ACTION_REQUIRED NEED_MORE_INFORMATION"])
    del made.timeline[:-1]
    assert stages(bench, made) == ["chargeback", "evidence", "asked_again"]


UNCLEAR = {
    "a third question": (["UNDER_REVIEW", "ACTION_REQUIRED NEED_MORE_INFORMATION"] * 2, "once again"),
    "an end that makes no sense": (["WON EXCEEDED_DEADLINE"], "WON, reason EXCEEDED_DEADLINE"),
    "withdrawn and lost": (["LOST WITHDRAWN"], "LOST, reason WITHDRAWN"),
    "open by arbitration": (["ACTION_REQUIRED ARBITRATION"], "ACTION_REQUIRED, reason ARBITRATION"),
}


@pytest.mark.parametrize(("moves", "why"), UNCLEAR.values(), ids=UNCLEAR)
def test_what_nobody_explains_is_left_to_operators_and_the_money_stays_with_the_bank(
    bench: XenditBench, moves: list[str], why: str
) -> None:
    made = disputed(bench)
    moved(made, moves)
    answer = found(bench, made)
    assert why in answer.unclear
    assert answer.stages[0].stage is Stage.CHARGEBACK
    assert not {stage.stage for stage in answer.stages} & {Stage.REVERSED, Stage.LOST_FINALLY}


@pytest.mark.parametrize("end", ["WON", "LOST"])
def test_a_dispute_that_is_decided_in_part_is_left_to_operators(bench: XenditBench, end: str) -> None:
    made = disputed(bench)
    made.move(end, "CHALLENGED", terminal="40.00")
    assert "a part" in found(bench, made).unclear
    assert stages(bench, made) == ["chargeback", "evidence"]


def test_when_the_money_is_taken_is_known_of_cards_alone(bench: XenditBench) -> None:
    made = disputed(bench, channel="QRIS")
    answer = found(bench, made)
    assert (answer.stages, "QRIS" in answer.unclear) == ((), True)


@pytest.mark.parametrize(
    ("category", "reason"),
    [
        ("fraudulent", Reason.FRAUDULENT),
        ("fraud", Reason.FRAUDULENT),
        ("PRODUCT_SERVICE_NOT_RECEIVED", Reason.NOT_RECEIVED),
        ("duplicate_processing", Reason.DUPLICATE),
        ("not_as_described_defective", Reason.NOT_AS_DESCRIBED),
        ("credit_not_processed", Reason.CREDIT_NOT_PROCESSED),
        ("canceled_recurring", Reason.SUBSCRIPTION_CANCELED),
        ("billing_error", Reason.PROCESSING_ERROR),
        ("something_new", Reason.GENERAL),
    ],
)
def test_the_reason_is_that_of_the_category(bench: XenditBench, category: str, reason: Reason) -> None:
    [stage] = found(bench, disputed(bench, category=category)).stages
    assert stage.reason is reason


def test_a_part_of_a_payment_is_disputed_with_its_deadline(bench: XenditBench) -> None:
    made = disputed(bench, amount="12.5")
    [stage] = found(bench, made).stages
    assert (stage.amount, stage.currency, stage.evidence_due_at) == (1_250, "PHP", made.due_at)


def test_a_dispute_without_our_reference_is_known_by_its_payment(bench: XenditBench) -> None:
    made = disputed(bench, names_reference=False)
    assert found(bench, made).payment_reference == made.of.reference


def test_a_dispute_that_names_no_payment_is_unknown(bench: XenditBench) -> None:
    made = disputed(bench, names_reference=False)
    made.of.payment_id = ""
    assert isinstance(bench.connector.find_dispute(made.id), Unknown)


def test_a_dispute_that_xendit_does_not_have_is_not_found(bench: XenditBench) -> None:
    assert bench.connector.find_dispute("mi-dspt-0") == NotFound()


def test_a_lookup_that_fails_is_unknown(bench: XenditBench) -> None:
    made = disputed(bench)
    bench.spoil_next(Spoilt.DOWN)
    assert isinstance(bench.connector.find_dispute(made.id), Unknown)


@pytest.mark.parametrize(
    "wrong", [{"id": "mi-dspt-1"}, {"amount": {}}, {"amount": {"initial": "-5"}}, {"amount": {"initial": "1.001"}}]
)
def test_an_answer_that_cannot_be_read_is_unknown(bench: XenditBench, wrong: dict[str, Any]) -> None:
    made = disputed(bench)

    def send(*asked: Any) -> http.Reply:
        reply = http.send(*asked)
        return http.Reply(reply.status, {}, json.dumps(json.loads(reply.content) | wrong).encode())

    assert isinstance(lookup.find(XenditClient(bench.fake.address, bench.secret_key, send), made.id), Unknown)


def announced(body: dict[str, Any]) -> list[WebhookEvent]:
    return read_webhook(TOKEN, {TOKEN_HEADER: TOKEN}, json.dumps(body).encode())


def message(**members: Any) -> dict[str, Any]:
    """Return a message about a dispute, as Xendit's guide has it."""
    about = {"id": "mi-dspt-1", "status": "WON", "status_reason": "CHALLENGED", "updated_at": "2026-03-20T14:00:00Z"}
    named = {"reference_id": "ab", "payment_id": "py-1", "channel_code": "CARDS"}
    return {"event": "dispute.won", **named, **about, **members}


@pytest.mark.parametrize("is_nested", [False, True], ids=["flat", "in data"])
def test_a_message_about_a_dispute_is_news_and_nothing_more(is_nested: bool) -> None:
    body = message()
    [event] = announced({"event": body["event"], "data": body} if is_nested else body)
    key = "dispute.won:mi-dspt-1:WON:CHALLENGED:2026-03-20T14:00:00Z"
    assert event == WebhookEvent(
        "ab", None, key, provider_ref="mi-dspt-1", dispute=DisputeNews("mi-dspt-1", Stage.REVERSED)
    )


def test_the_same_event_at_a_later_time_is_another_report() -> None:
    [first], [later] = announced(message()), announced(message(updated_at="2026-03-21T14:00:00Z"))
    assert first.key != later.key


def test_a_reminder_of_the_deadline_is_news_too() -> None:
    status = {"status": "ACTION_REQUIRED", "status_reason": None}
    [event] = announced(message(event="dispute.due_date_approaching", reference_id=None, **status))
    assert (event.reference, event.dispute) == ("mi-dspt-1", DisputeNews("mi-dspt-1", Stage.CHARGEBACK))


def test_what_a_message_says_and_nobody_explains_is_no_claim() -> None:
    [event] = announced(message(status="WON", status_reason="ACCEPTED"))
    assert event.dispute == DisputeNews("mi-dspt-1", None)


def test_a_message_about_a_dispute_without_a_name_is_unexplained() -> None:
    [event] = announced(message(id=None))
    assert isinstance(event.outcome, Unknown)


def test_the_amount_of_a_dispute_is_the_payments(bench: XenditBench) -> None:
    assert [stage.amount for stage in found(bench, disputed(bench)).stages] == [AMOUNT]

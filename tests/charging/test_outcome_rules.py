"""The rules of outcomes are pure: whatever rows and outcome they take, they return what changes and change nothing.

No test here may ask the database.
"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from payments.db.writes import Insert
from payments.domain.charging.changes import Change, Changes, RowUpdate, apply, rows_after
from payments.domain.charging.late_outcomes import late_changes
from payments.domain.charging.outcome_rules import AttemptResult, apply_outcome
from payments.domain.charging.state_machine import (
    FLAGS,
    TRANSITIONS,
    ChargeState,
    Flags,
    IllegalTransition,
    Transition,
    state_of,
    transition,
)
from payments.ledger.movements import Movement
from payments.models import Attempt, Card, Charge, Refund, Source
from payments.providers.base import (
    ActionRequired,
    Approved,
    Declined,
    NotFound,
    NotSent,
    Outcome,
    Pending,
    Rejected,
    Unknown,
)

NEW_EACH_TIME = {"id", "_state", "created_at", "updated_at"}
NOW = datetime(2026, 11, 21, 1, 43, tzinfo=UTC)
# Where the contract (section 6) lets a charge go by one outcome, late ones included.
MAY_BECOME: dict[ChargeState, set[ChargeState]] = {
    ChargeState.PENDING: {ChargeState.PENDING, ChargeState.HELD, ChargeState.CAPTURED, ChargeState.FAILED},
    ChargeState.HELD: {ChargeState.HELD, ChargeState.CAPTURED, ChargeState.VOIDED},
    ChargeState.CAPTURED: {ChargeState.CAPTURED, ChargeState.VOIDED, ChargeState.REFUNDED},
    ChargeState.SETTLED: {ChargeState.SETTLED, ChargeState.REFUNDED},
    ChargeState.REFUNDED: {ChargeState.REFUNDED, ChargeState.CAPTURED, ChargeState.SETTLED},
    ChargeState.FAILED: {ChargeState.FAILED},
    ChargeState.VOIDED: {ChargeState.VOIDED},
}
Kind, State = Attempt.Kind, Attempt.State
amounts = st.integers(1, 99_999_999_999)
moments = st.one_of(st.none(), st.timedeltas(timedelta(days=-9), timedelta(days=9)).map(lambda delta: NOW + delta))
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Approved, st.just("pay_1"), captured=st.booleans(), cvc_checked=st.sampled_from(["pass", "unchecked"])),
    st.builds(Declined, st.sampled_from(["card_declined", "expired_card", "no such code"]), retryable=st.booleans()),
    st.builds(
        ActionRequired,
        st.just("pay_1"),
        st.just("https://pay.example"),
        st.sampled_from(["", "conf_1"]),
        st.sampled_from(["", "code"]),
    ),
    st.builds(Pending, st.just("pay_1")),
    st.builds(Unknown, st.just("time-out")),
    st.builds(NotSent, st.just("refused")),
    st.builds(Rejected, st.just("bad_request")),
    st.builds(NotFound),
)


def source_with(card: Card | None) -> Source:
    source = Source(type="card" if card else "gcash")
    Source.card.related.set_cached_value(source, card)
    return source


@st.composite
def charges(draw: st.DrawFn) -> Charge:
    """Draw a charge in any state that its constraints allow."""
    state, amount = draw(st.sampled_from(ChargeState)), draw(amounts)
    is_captured = state in (ChargeState.CAPTURED, ChargeState.SETTLED, ChargeState.REFUNDED)
    captured = draw(st.integers(1, amount)) if is_captured else 0
    refunded = captured if state is ChargeState.REFUNDED else draw(st.integers(0, max(0, captured - 1)))
    card = draw(st.one_of(st.none(), st.builds(Card, cvc_checked=st.just("unchecked"))))
    charge = Charge(
        source=source_with(card),
        single_use=draw(st.booleans()),
        amount=amount,
        amount_captured=captured,
        amount_refunded=refunded,
        currency="PHP",
        status=state.value["status"],
        authorized=state is ChargeState.HELD,
        captured=is_captured,
        capture_at_once=draw(st.booleans()),
        fee_basis_points=draw(st.integers(0, 10_000)),
        fee_fixed=draw(st.integers(0, 5_000)),
        fee=draw(st.integers(0, captured)),
        settled_at=NOW if state is ChargeState.SETTLED or (is_captured and draw(st.booleans())) else None,
        settle_due_at=draw(moments),
        hold_expires_at=NOW + timedelta(days=3) if state is ChargeState.HELD else None,
        hold_extended_days=draw(st.integers(0, 21)),
        action=draw(st.sampled_from([None, {"type": "redirect_to_url", "url": "https://pay.example"}])),
        action_expires_at=draw(moments),
        operation=draw(st.sampled_from(["", "capture", "void", "refund", "extend"])),
        reversed_late=draw(st.booleans()),
        version=draw(st.integers(1, 50)),
        created_at=NOW - timedelta(days=1),
    )
    assume(state is not ChargeState.CAPTURED or charge.settled_at is None)
    charge.refund_list = []
    return charge


@st.composite
def asked(draw: st.DrawFn, *, is_done: bool = False) -> Attempt:
    """Draw an attempt at any operation on a charge in any state, its refund among the charge's."""
    charge, kind = draw(charges()), draw(st.sampled_from(Kind))
    # Only a hold is extended, and only a held charge knows when its hold ends.
    assume(kind != Kind.EXTEND or charge.hold_expires_at)
    states = [State.DONE] if is_done else [State.OPEN, State.UNKNOWN, State.WAITING]
    attempt = Attempt(
        merchant_id=charge.merchant_id,
        charge=charge,
        kind=kind,
        provider="simulator",
        amount=draw(st.integers(1, charge.amount)),
        hold_days=7 if kind == Kind.EXTEND else None,
        state=draw(st.sampled_from(states)),
        outcome=draw(st.sampled_from(["Approved", "Declined", "NotFound", "LateApproved"])) if is_done else "",
        passed_on=draw(st.booleans()) if is_done else False,
        provider_ref=draw(st.sampled_from(["", "pay_1"])),
        tries=draw(st.integers(0, 9)),
    )
    if kind == Kind.REFUND:
        _add_refund(draw, attempt)
    return attempt


def _add_refund(draw: st.DrawFn, attempt: Attempt) -> None:
    """Draw a refund that counts as refunded, unless it has failed."""
    charge = attempt.charge
    statuses = list(Refund.Status) if attempt.state == State.DONE else [Refund.Status.PENDING]
    status = draw(st.sampled_from(statuses))
    most = charge.amount_captured if status == Refund.Status.FAILED else charge.amount_refunded
    assume(most > 0)
    amount = draw(st.integers(1, most))
    attempt.refund = Refund(
        charge=charge, amount=amount, currency="PHP", status=status, version=draw(st.integers(1, 3))
    )
    attempt.amount = amount
    charge.refund_list = [attempt.refund]


def rows_of(attempt: Attempt) -> list[Any]:
    card = getattr(attempt.charge.source, "card", None)
    return [attempt, attempt.charge, attempt.charge.source, *attempt.charge.refund_list, *([card] if card else [])]


def contents(attempt: Attempt) -> list[dict[str, Any]]:
    """All that the rows in memory hold."""
    return [{name: value for name, value in vars(row).items() if name != "_state"} for row in rows_of(attempt)]


def resulting(attempt: Attempt, outcome: Outcome) -> AttemptResult:
    """Apply the rules, where the charge's state allows the outcome."""
    try:
        return apply_outcome(attempt, outcome, NOW)
    except IllegalTransition:
        assume(False)
        raise


def updates(changes: Changes) -> list[RowUpdate]:
    return [change for change in changes if isinstance(change, RowUpdate)]


def check(attempt: Attempt, changes: Changes) -> None:
    """Check what holds of the changes of every outcome."""
    charge, after = attempt.charge, rows_after(attempt.charge, changes)[attempt.charge.pk]
    assert state_of(after) in MAY_BECOME[state_of(charge)]
    assert Flags(after.status, authorized=after.authorized, captured=after.captured) in FLAGS
    assert 0 <= after.amount_refunded <= after.amount_captured <= after.amount
    assert 0 <= after.fee <= after.amount_captured
    assert after.version - charge.version == sum(update.event.startswith("charge.") for update in updates(changes))
    assert len({update.row.pk for update in updates(changes)}) == len(updates(changes))
    for movement in (change for change in changes if isinstance(change, Movement)):
        assert movement.lines
        assert all(line.amount for line in movement.lines)
        assert sum(line.amount for line in movement.lines) == 0


def comparable(change: Change) -> object:
    """Replace the ID and the time of a new row, which differ each time."""
    if isinstance(change, Insert):
        return {name: value for name, value in vars(change.row).items() if name not in NEW_EACH_TIME}
    return change


@given(asked(), outcomes)
def test_an_outcome_changes_no_row_and_says_the_same_each_time(attempt: Attempt, outcome: Outcome) -> None:
    before = contents(attempt)
    result = resulting(attempt, outcome)
    assert contents(attempt) == before
    assert resulting(attempt, outcome) == result


@given(asked())
def test_an_outcome_that_no_rule_knows_is_not_taken_for_a_decline(attempt: Attempt) -> None:
    class New:
        pass

    with suppress(ValueError, IllegalTransition):
        result = apply_outcome(attempt, New(), NOW)
        assert (result.state == State.DONE, result.changes) == (False, ())


@pytest.mark.long
@given(asked(), outcomes)
def test_what_an_outcome_changes_is_allowed_and_balances(attempt: Attempt, outcome: Outcome) -> None:
    result = resulting(attempt, outcome)
    check(attempt, result.changes)
    assert (result.state == State.DONE) == bool(result.outcome)
    assert result.due_at is not None or result.state == State.DONE
    # Where an operation was not done, no money moves and no event is written.
    if result.refusal:
        assert [(change.row, change.event) for change in updates(result.changes)] == [(attempt.charge, "")]
        assert len(result.changes) == 1


@pytest.mark.long
@given(asked(), outcomes)
def test_money_moves_only_where_the_provider_says_that_it_did_or_that_a_refund_failed(
    attempt: Attempt, outcome: Outcome
) -> None:
    moved = [change for change in resulting(attempt, outcome).changes if isinstance(change, Movement)]
    refund_failed = attempt.kind == Kind.REFUND and isinstance(outcome, Declined | Rejected | NotFound | NotSent)
    assert not moved or isinstance(outcome, Approved) or refund_failed


@given(asked(), outcomes)
def test_the_rows_are_shown_as_they_are_once_the_changes_are_applied(attempt: Attempt, outcome: Outcome) -> None:
    changes, before = resulting(attempt, outcome).changes, contents(attempt)
    shown = rows_after(attempt.charge, changes)
    assert contents(attempt) == before
    apply(attempt.charge, changes)
    for row in (attempt.charge, *attempt.charge.refund_list):
        assert {name: getattr(shown[row.pk], name) for name in _columns(row)} == _columns(row)
    if card := getattr(attempt.charge.source, "card", None):
        assert _columns(shown[attempt.charge.pk].source.card) == _columns(card)


def _columns(row: Any) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@given(asked(is_done=True), outcomes)
def test_late_news_changes_no_row_and_moves_only_what_it_may(attempt: Attempt, outcome: Outcome) -> None:
    before = contents(attempt)
    changes = late_changes(attempt, outcome, NOW)
    assert contents(attempt) == before
    assert list(map(comparable, late_changes(attempt, outcome, NOW))) == list(map(comparable, changes))
    assert not changes or isinstance(outcome, Approved | Declined)
    check(attempt, changes)


@pytest.mark.long
@pytest.mark.parametrize("by", TRANSITIONS, ids=lambda by: by.name)
@given(charge=charges())
def test_a_transition_is_made_from_its_origins_only_and_guards_the_row(by: Transition, charge: Charge) -> None:
    if state_of(charge) not in by.origins:
        with pytest.raises(IllegalTransition):
            transition(charge, by, NOW)
        return
    update = transition(charge, by, NOW)
    assert {name: getattr(charge, name) for name in update.match} == update.match
    assert update.match.keys() >= {"id", "version", "operation", "settled_at", "status"}
    assert (update.values, update.event) == ({"version": charge.version + 1, "updated_at": NOW}, by.event)

"""Where a dispute stands, whatever the order of its reports."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.domain.disputes.stages import RETURNS, STATUSES, TAKES, Standing, Status, held_after, standing_of
from payments.providers.disputes import Stage

STAGES = st.lists(st.sampled_from(Stage), min_size=1, max_size=12)


@given(STAGES, st.randoms())
def test_the_order_and_the_number_of_reports_do_not_matter(stages: list[Stage], random: Random) -> None:
    shuffled = stages * 2
    random.shuffle(shuffled)
    assert standing_of(shuffled) == standing_of(stages)


@given(STAGES)
def test_a_dispute_never_goes_back(stages: list[Stage]) -> None:
    standing = standing_of(stages[:1])
    for stage in stages:
        after = standing.after(stage)
        assert (after.stage, after.money_stage) >= (standing.stage, standing.money_stage)
        standing = after


@given(STAGES)
def test_a_dispute_that_is_won_leaves_the_money_and_a_lost_one_does_not(stages: list[Stage]) -> None:
    standing = standing_of(stages)
    if standing.status in (Status.WON, Status.WARNING):
        assert not standing.withdrawn
    # Before arbitration the bank asks, and may have the money or not.
    if standing.status == Status.LOST or (standing.status == Status.NEEDS_RESPONSE and standing.stage < Stage.REVERSED):
        assert standing.withdrawn


@given(STAGES)
def test_what_moves_no_money_changes_nothing_of_it(stages: list[Stage]) -> None:
    moving = [stage for stage in stages if stage in TAKES | RETURNS]
    assert standing_of(stages).withdrawn == (bool(moving) and max(moving) in TAKES)


AMOUNTS = st.dictionaries(st.sampled_from(sorted(TAKES | RETURNS)), st.integers(1, 10_000), min_size=1)


@given(AMOUNTS)
def test_a_bank_never_has_more_than_it_took_at_once_nor_less_than_nothing(amounts: dict[int, int]) -> None:
    taken = [amount for stage, amount in amounts.items() if stage in TAKES]
    assert 0 <= held_after(amounts) <= max(taken, default=0)


@given(AMOUNTS, st.integers(1, 10_000))
def test_of_whole_amounts_a_bank_has_all_or_nothing(amounts: dict[int, int], whole: int) -> None:
    assert held_after(dict.fromkeys(amounts, whole)) == (whole if max(amounts) in TAKES else 0)


@pytest.mark.parametrize(
    ("amounts", "held"),
    [
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 4}, 6),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 10, Stage.SECOND_CHARGEBACK: 4}, 4),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 4, Stage.SECOND_CHARGEBACK: 4}, 10),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 10, Stage.SECOND_CHARGEBACK: 12}, 12),
        # The issuer withdraws what it asked for after the reversal, and does not return that once more.
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 4, Stage.WON_FINALLY: 4}, 6),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 4, Stage.WON_FINALLY: 10}, 0),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 10, Stage.LOST_FINALLY: 10}, 10),
        ({Stage.CHARGEBACK: 10, Stage.REVERSED: 10, Stage.SECOND_CHARGEBACK: 4, Stage.LOST_FINALLY: 4}, 4),
        # A reversal that nobody reported.
        ({Stage.CHARGEBACK: 10, Stage.SECOND_CHARGEBACK: 4}, 10),
        ({Stage.REVERSED: 4}, 0),
    ],
    ids=str,
)
def test_each_stage_moves_the_amount_that_its_report_says(amounts: dict[int, int], held: int) -> None:
    assert held_after(amounts) == held


def test_every_stage_has_a_status_and_every_status_a_stage() -> None:
    assert set(STATUSES) == set(Stage)
    assert set(STATUSES.values()) == set(Status)
    assert Standing(Stage.INQUIRY).withdrawn is False

"""Where a dispute stands, whatever the order of its reports."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from payments.domain.disputes.stages import RETURNS, STATUSES, TAKES, Standing, Status, standing_of
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
    if standing.status in (Status.LOST, Status.NEEDS_RESPONSE):
        assert standing.withdrawn


@given(STAGES)
def test_what_moves_no_money_changes_nothing_of_it(stages: list[Stage]) -> None:
    moving = [stage for stage in stages if stage in TAKES | RETURNS]
    assert standing_of(stages).withdrawn == (bool(moving) and max(moving) in TAKES)


def test_every_stage_has_a_status_and_every_status_a_stage() -> None:
    assert set(STATUSES) == set(Stage)
    assert set(STATUSES.values()) == set(Status)
    assert Standing(Stage.INQUIRY).withdrawn is False
